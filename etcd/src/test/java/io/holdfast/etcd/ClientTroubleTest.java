package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.etcd.TestClient.Waiter;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.EtcdServer;
import io.holdfast.spi.Grant;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("When something goes wrong within the client")
class ClientTroubleTest {

    private static final Duration SHORT = Duration.ofSeconds(2);

    /** Rounds are a twelfth of it apart: while a test runs, none is due. */
    private static final Duration LONG = Duration.ofMinutes(10);

    private static EtcdServer server;

    private final String name = "lock-" + UUID.randomUUID();
    private TcpProxy proxy;
    private TestClient other;
    private Meddler meddler;
    private TestClient troubled;

    @BeforeAll
    static void startServer() {
        server = EtcdServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        proxy = TcpProxy.to(server.address());
        other = TestClient.of("etcd://127.0.0.1:" + server.port());
        meddler = new Meddler(proxy.port());
        troubled = meddler.client();
    }

    @AfterEach
    void disconnect() {
        meddler.breaks = method -> false;
        troubled.background.refuses = false;
        other.close();
        troubled.close();
        meddler.close();
        proxy.close();
    }

    /** In line, with its watches open. */
    private Waiter troubledWaiter() {
        Waiter waiter = troubled.enqueue(troubled.request(name, Demand.exclusive(), LONG));
        await().until(() -> meddler.watchIds.size() == 2);
        return waiter;
    }

    @Test
    void aLookThatCannotBeSentIsRepeated() {
        Grant held = other.grant(name);
        Waiter between = other.enqueue(name);
        Waiter waiter = troubledWaiter();
        meddler.breaks = method -> method.endsWith("KV/Txn");
        other.withdraw(between.request);
        await().until(() -> meddler.broken.get() > 0);
        meddler.breaks = method -> false;

        other.release(held);

        waiter.arrived();
    }

    @Test
    void aLookThatCannotBeHandedOverIsRepeated() {
        Grant held = other.grant(name);
        Waiter between = other.enqueue(name);
        Waiter waiter = troubledWaiter();
        meddler.breaks = method -> method.endsWith("KV/Txn");
        troubled.background.refuses = true;
        other.withdraw(between.request);
        await().until(() -> troubled.background.refusals.get() > 0);
        troubled.background.refuses = false;
        meddler.breaks = method -> false;

        other.release(held);

        waiter.arrived();
    }

    @Test
    void roundsGoOnAfterOneThatCouldNotBeHandedOver() {
        Grant held = troubled.grant(troubled.request(name, Demand.exclusive(), SHORT));
        await().until(() -> meddler.watchIds.size() == 1);
        troubled.background.refuses = true;
        await().until(() -> troubled.background.refusals.get() > 0);
        troubled.background.refuses = false;

        await().until(() -> troubled.losses.containsKey(held.request().owner()));

        assertThat(troubled.losses).containsEntry(held.request().owner(), LossReason.EXPIRED);
        other.release(other.grant(name));
    }

    @Test
    void aWatchStreamWhoseOpeningCannotBeHandedOverIsOpenedLater() {
        Grant held = other.grant(name);
        Waiter waiter = troubledWaiter();
        troubled.background.refuses = true;
        proxy.resetConnections();
        await().until(() -> troubled.background.refusals.get() > 0);
        troubled.background.refuses = false;

        other.release(held);

        waiter.arrived();
    }

    @Test
    void aWatchStreamThatCannotBeStartedIsOpenedLater() {
        Grant held = other.grant(name);
        Waiter waiter = troubledWaiter();
        meddler.breaks = method -> method.endsWith("Watch/Watch");
        proxy.resetConnections();
        await().until(() -> meddler.broken.get() > 0);
        meddler.breaks = method -> false;

        other.release(held);

        waiter.arrived();
    }

    @Test
    void aWatchStreamThatTakesNoMoreIsReplaced() {
        Grant held = other.grant(name);
        Grant own = troubled.grant(troubled.request(name + "-other", Demand.exclusive(), LONG));
        await().until(() -> meddler.watchIds.size() == 1);
        meddler.refusesWatches = true;
        Waiter waiter = troubled.enqueue(troubled.request(name, Demand.exclusive(), LONG));
        meddler.refusesWatches = false;

        other.release(held);

        waiter.arrived();
        troubled.release(own);
    }
}
