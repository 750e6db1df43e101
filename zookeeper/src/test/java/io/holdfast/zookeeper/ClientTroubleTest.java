package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.TicketListener;
import io.holdfast.zookeeper.SessionOverException.Ending;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("When something goes wrong within the client")
class ClientTroubleTest {

    private static final Duration TTL = Duration.ofSeconds(2);
    private static final int WAITERS = 4;

    private static ZooKeeperServer server;

    private final AtomicInteger told = new AtomicInteger();
    private StoreBench bench;

    @BeforeAll
    static void startServer() {
        server = TestServers.single();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void open() {
        bench = StoreBench.at(TestServers.uri(server.connectString()), TTL);
    }

    @AfterEach
    void close() {
        bench.background.refuses = false;
        bench.close();
    }

    private static Session sessionOf(Grant grant) {
        return ((Place) Objects.requireNonNull(grant.handle())).session();
    }

    /** Hears what it is told, and fails over it. */
    private final class Clumsy implements TicketListener {

        @Override
        public void granted(Grant grant) {
            told.incrementAndGet();
            throw new IllegalStateException("clumsy, as far as this test goes");
        }

        @Override
        public void lost(String reason) {
            told.incrementAndGet();
            throw new IllegalStateException("clumsy, as far as this test goes");
        }
    }

    private void queueTheClumsy(String name) {
        for (int i = 0; i < WAITERS; i++) {
            bench.queue(bench.request(name, Demand.shared()), new Clumsy());
        }
    }

    /** The first client cannot be made, for lack of threads. */
    private static final class LateConnector implements Connector {

        private final Connector later = new OwnClient(server.connectString(), Optional.empty(), Map.of());
        private final AtomicInteger calls = new AtomicInteger();

        @Override
        public ZooKeeper connect(Duration timeout, Watcher watcher, ConnectAttempts attempts) throws IOException {
            if (calls.getAndIncrement() == 0) {
                throw new Error("no thread can be started, as far as this test goes");
            }
            return later.connect(timeout, watcher, attempts);
        }

        @Override
        public void authenticate(ZooKeeper client) {}

        @Override
        public boolean isOwn() {
            return true;
        }
    }

    @Test
    void aSessionWhoseClientCannotBeMadeIsReplacedByTheNextRequest() {
        Settings settings = new Settings(
                "late", new LateConnector(), "/locks", TestServers.TICK, Ids.OPEN_ACL_UNSAFE, Layout.MUTEX);
        try (StoreBench late =
                new StoreBench(context -> new ZooKeeperStore(settings, StoreTraits.of("late"), context), TTL)) {
            assertThatThrownBy(() -> late.store.attempt(
                            late.request("late", Demand.exclusive()), late.within(Duration.ofSeconds(2))))
                    .isInstanceOf(StoreUnavailableException.class);

            assertThat(late.store.attempt(
                            late.request("late", Demand.exclusive()), late.within(Duration.ofSeconds(10))))
                    .isInstanceOf(Answer.Granted.class);
        }
    }

    @Test
    void whatIsToBeDoneOnAConnectionIsDoneLaterIfItCannotBeHandedOver() {
        Session session = sessionOf(bench.acquire("later"));
        bench.background.refuses = true;
        session.afterReconnect(told::incrementAndGet);
        assertThat(bench.background.refusals).hasPositiveValue();
        bench.background.refuses = false;

        await().until(() -> told.get() == 1);
    }

    @Test
    void whatFailsOnANewConnectionIsDoneAgainAndKeepsNothingElseFromBeingDone() {
        Session session = sessionOf(bench.acquire("again"));
        session.hub().process(new WatchedEvent(EventType.None, KeeperState.Disconnected, null));
        for (int i = 0; i < WAITERS; i++) {
            AtomicInteger tries = new AtomicInteger();
            session.afterReconnect(() -> {
                if (tries.incrementAndGet() == 1) {
                    throw new Error("as far as this test goes");
                }
                told.incrementAndGet();
            });
        }

        session.hub().process(new WatchedEvent(EventType.None, KeeperState.SyncConnected, null));

        await().until(() -> told.get() == WAITERS);
    }

    @Test
    void P5_pulsesGoOnAfterASweepThatCouldNotBeHandedOver() throws Exception {
        bench.acquire("pulses");
        bench.background.refuses = true;
        await().until(() -> bench.background.refusals.get() > 0);
        bench.background.refuses = false;

        StoreBench.Lost lost = bench.losses.poll(10, SECONDS);

        assertThat(lost).isNotNull();
        assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED);
    }

    @Test
    void P5_onePlaceThatCannotBeTendedKeepsNoOtherFromIt() {
        try (StoreBench holding = StoreBench.at(TestServers.uri(server.connectString()), Duration.ofSeconds(30))) {
            holding.acquire("tended");
            queueTheClumsy("tended");

            await().until(() -> told.get() == WAITERS);
        }
    }

    @Test
    void oneWaiterThatCannotBeToldKeepsNoOtherFromHearing() {
        Grant holder = bench.acquire("clumsy");
        queueTheClumsy("clumsy");

        bench.store.release(holder, Duration.ZERO, bench.soon());

        await().until(() -> told.get() == WAITERS);
    }

    @Test
    void aSessionEndsForAllItsPlacesAndAtTheServers() throws Exception {
        Session session = sessionOf(bench.acquire("ending"));
        queueTheClumsy("ending");

        session.end(Ending.EXPIRED, "as far as this test goes");

        assertThat(told).hasValue(WAITERS);
        ZooKeeper admin = TestServers.client(server.connectString());
        await().until(() -> admin.getChildren("/locks/ending", false), List::isEmpty);
        admin.close();
    }
}
