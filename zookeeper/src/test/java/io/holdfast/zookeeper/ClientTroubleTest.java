package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.StoreUnavailableException;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Ticket.Ending;
import io.holdfast.zookeeper.session.ConnectAttempts;
import io.holdfast.zookeeper.session.Connector;
import io.holdfast.zookeeper.session.Ensemble;
import io.holdfast.zookeeper.session.OwnClient;
import io.holdfast.zookeeper.tree.Layout;
import io.holdfast.zookeeper.tree.LockTree;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.Watcher;
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

    private static final Duration TTL = Duration.ofSeconds(4);
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
        bench.close();
    }

    /** Hears what its ticket is told, and fails over it. */
    private final class Clumsy implements Ticket.Listener {

        @Override
        public void granted() {
            told.incrementAndGet();
            throw new IllegalStateException("clumsy, as far as this test goes");
        }

        @Override
        public void ended(Ending why) {
            told.incrementAndGet();
            throw new IllegalStateException("clumsy, as far as this test goes");
        }
    }

    private void queueTheClumsy(String name) {
        for (int i = 0; i < WAITERS; i++) {
            bench.queue(bench.ticket(name, Demand.shared(), TTL, new Clumsy()));
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
        LockTree tree = new LockTree("/locks", Ids.OPEN_ACL_UNSAFE, Layout.MUTEX);
        Ensemble servers = new Ensemble("late", new LateConnector(), TestServers.TICK, tree.emptyPath());
        try (StoreBench late =
                new StoreBench(context -> new ZooKeeperStore(servers, tree, StoreTraits.of("late"), context), TTL)) {
            assertThatThrownBy(() -> late.refusal("late", late.within(Duration.ofSeconds(2))))
                    .isInstanceOf(StoreUnavailableException.class);

            assertThat(late.refusal("late", late.soon())).isEmpty();
        }
    }

    @Test
    void P5_oneTicketThatCannotBeToldOfItsEndKeepsNoOtherFromEnding() {
        try (StoreBench holding = StoreBench.at(TestServers.uri(server.connectString()), Duration.ofSeconds(30))) {
            holding.acquire("tended");
            queueTheClumsy("tended");

            await().until(() -> told.get() == WAITERS);
        }
    }

    @Test
    void oneWaiterThatCannotBeToldKeepsNoOtherFromHearing() {
        TestTicket holder = bench.acquire("clumsy");
        queueTheClumsy("clumsy");

        bench.release(holder);

        await().until(() -> told.get() == WAITERS);
    }

    @Test
    void aSessionEndsForAllItsTicketsAndAtTheServers() throws Exception {
        bench.acquire("ending");
        queueTheClumsy("ending");

        bench.store.close();

        assertThat(told).hasValue(WAITERS);
        ZooKeeper admin = TestServers.client(server.connectString());
        await().until(() -> admin.getChildren("/locks/ending", false), List::isEmpty);
        admin.close();
    }
}
