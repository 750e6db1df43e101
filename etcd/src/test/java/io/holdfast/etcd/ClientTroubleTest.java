package io.holdfast.etcd;

import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.EtcdServer;
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

    /** Sweeps are a twelfth of it apart: while a test runs, none is due. */
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
        other.close();
        troubled.close();
        meddler.close();
        proxy.close();
    }

    /** In the queue, with its watches open. */
    private TestTicket troubledWaiter() {
        TestTicket waiter = troubled.enqueue(troubled.ticket(name, Demand.exclusive(), LONG));
        await().until(() -> meddler.watchIds.size() == 2);
        return waiter;
    }

    @Test
    void aListingThatCannotBeSentIsRepeated() {
        TestTicket held = other.grant(name);
        meddler.breaks = method -> method.endsWith("KV/Range");
        TestTicket waiter = troubledWaiter();
        await().until(() -> meddler.broken.get() > 0);
        meddler.breaks = method -> false;

        other.release(held);

        waiter.arrived();
    }

    @Test
    void aWatchStreamThatCannotBeStartedIsOpenedLater() {
        TestTicket held = other.grant(name);
        TestTicket waiter = troubledWaiter();
        meddler.breaks = method -> method.endsWith("Watch/Watch");
        proxy.resetConnections();
        await().until(() -> meddler.broken.get() > 0);
        meddler.breaks = method -> false;

        other.release(held);

        waiter.arrived();
    }

    @Test
    void aWatchStreamThatTakesNoMoreIsReplaced() {
        TestTicket held = other.grant(name);
        TestTicket own = troubled.grant(troubled.ticket(name + "-other", Demand.exclusive(), LONG));
        await().until(() -> meddler.watchIds.size() == 1);
        meddler.refusesWatches = true;
        TestTicket waiter = troubled.enqueue(troubled.ticket(name, Demand.exclusive(), LONG));
        meddler.refusesWatches = false;

        other.release(held);

        waiter.arrived();
        troubled.release(own);
    }
}
