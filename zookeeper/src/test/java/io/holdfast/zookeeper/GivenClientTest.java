package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.StoreFactory;
import io.holdfast.zookeeper.StoreBench.Renewed;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.AsyncCallback.Create2Callback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class GivenClientTest {

    /** What the client of {@link TestServers} asks for. */
    private static final Duration TTL = Duration.ofSeconds(30);

    private static ZooKeeperServer server;

    @BeforeAll
    static void startServer() {
        server = TestServers.single();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @Test
    void itsSessionHoldsTheLocksAndOutlivesTheStore() throws Exception {
        ZooKeeper client = TestServers.client(server.connectString());
        try (StoreBench bench = new StoreBench(around(client), TTL)) {
            TestTicket grant = bench.acquire("borrowed");
            TestTicket waiter = bench.queue("borrowed");

            assertThat(grant.ticket.givenTtl()).isEqualTo(TTL);
            assertThat(bench.renew(grant)).isEqualTo(Renewed.KEPT);
            bench.release(grant);
            assertThat(waiter.grants.poll(20, SECONDS)).isNotNull();
        }
        assertThat(client.getState().isAlive()).isTrue();
        client.close();
    }

    @Test
    void P6_itDoesNotHearForGoodOfALockThatManyHold() throws Exception {
        CountedRequests counted = new CountedRequests();
        try (TcpProxy proxy = TcpProxy.to(server.address(), counted)) {
            ZooKeeper client = TestServers.client("127.0.0.1:" + proxy.port());
            try (StoreBench bench = new StoreBench(around(client), TTL)) {
                for (int i = 0; i < 70; i++) {
                    bench.acquire("many", Demand.shared());
                }
                assertThat(counted.count("addWatch")).isZero();
            } finally {
                client.close();
            }
        }
    }

    @Test
    void aTtlOtherThanItsSessionTimeoutIsAnError() throws Exception {
        ZooKeeper client = TestServers.client(server.connectString());
        try (StoreBench bench = new StoreBench(around(client), Duration.ofSeconds(10))) {
            assertThatThrownBy(() -> bench.refusal("borrowed"))
                    .isInstanceOf(UnsupportedLockException.class)
                    .hasMessageContaining("30000 ms");
        } finally {
            client.close();
        }
    }

    @Test
    void itsEndIsToldAndNoOtherSessionIsBuilt() throws Exception {
        ZooKeeper client = TestServers.client(server.connectString());
        try (StoreBench bench = new StoreBench(around(client), TTL)) {
            TestTicket grant = bench.acquire("ended");
            client.close();

            assertThat(grant.losses.poll(20, SECONDS)).isNotNull();
            assertThat(bench.renew(grant)).isEqualTo(Renewed.GONE);
            assertThatThrownBy(() -> bench.refusal("ended", bench.within(Duration.ofSeconds(5))))
                    .isInstanceOf(StoreUnavailableException.class);
        }
    }

    @Test
    void P5_itsEndIsToldThoughItsConnectionBrokeWhenItWasGiven() throws Exception {
        CountedRequests counted = new CountedRequests();
        try (TcpProxy proxy = TcpProxy.to(server.address(), counted)) {
            ZooKeeper client = TestServers.client("127.0.0.1:" + proxy.port());
            proxy.cut();
            try (StoreBench bench = new StoreBench(around(client), TTL)) {
                Future<TestTicket> acquired = bench.elsewhere(() -> bench.acquire("broken"));
                await().until(() -> counted.sinceLastAsked().containsKey("setData"));
                proxy.resetConnections();
                proxy.heal();
                TestTicket held = acquired.get(20, SECONDS);

                client.close();

                assertThat(held.losses.poll(20, SECONDS)).isNotNull();
            }
        }
    }

    @Test
    void P7_aCreationThatLandsAfterTheStoreWasClosedLeavesNothing() throws Exception {
        CountedRequests counted = new CountedRequests();
        try (TcpProxy proxy = TcpProxy.to(server.address(), counted)) {
            ZooKeeper client = TestServers.client("127.0.0.1:" + proxy.port());
            ZooKeeper admin = TestServers.client(server.connectString());
            StoreBench bench = new StoreBench(around(client), TTL);
            bench.release(bench.acquire("late"));
            counted.sinceLastAsked();
            proxy.cut(Direction.TO_SERVER);

            Future<?> asked = bench.elsewhere(() -> bench.refusal("late"));
            await().until(() -> counted.count("create2") == 1);
            bench.store.close();
            assertThat(asked).isNotDone();
            assertThat(admin.getChildren("/given/late", false)).isEmpty();
            int made = admin.exists("/given/late", false).getCversion();
            proxy.heal();

            // One more was made, and is gone again: the client lives on, and so would its node.
            await().until(() -> admin.exists("/given/late", false).getCversion() == made + 2);
            assertThat(admin.getChildren("/given/late", false)).isEmpty();
            assertThat(client.getState().isAlive()).isTrue();
            bench.close();
            client.close();
            admin.close();
        }
    }

    /** Does something else just before it sends a creation. */
    private static final class InterruptedClient extends ZooKeeper {

        private final AtomicReference<Runnable> first = new AtomicReference<>(() -> {});

        InterruptedClient() throws IOException {
            super(server.connectString(), 30_000, event -> {});
        }

        @Override
        public void create(
                String path, byte[] data, List<ACL> acl, CreateMode mode, Create2Callback answer, Object context) {
            first.getAndSet(() -> {}).run();
            super.create(path, data, acl, mode, answer, context);
        }
    }

    @Test
    void P7_aCreationSentAfterTheStoreHasLookedForItLeavesNothing() throws Exception {
        try (InterruptedClient client = new InterruptedClient();
                StoreBench bench = new StoreBench(around(client), TTL)) {
            bench.release(bench.acquire("too-late"));
            int made = client.exists("/given/too-late", false).getCversion();
            client.first.set(bench.store::close);

            assertThatThrownBy(() -> bench.refusal("too-late")).isInstanceOf(StoreUnavailableException.class);

            await().until(() -> client.exists("/given/too-late", false).getCversion() == made + 2);
            assertThat(client.getChildren("/given/too-late", false)).isEmpty();
        }
    }

    @Test
    void P7_aCreationWhoseAnswerIsLostWhileTheStoreClosesIsLookedForOnTheNextConnection() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.address())) {
            ZooKeeper client = TestServers.client("127.0.0.1:" + proxy.port());
            ZooKeeper admin = TestServers.client(server.connectString());
            StoreBench bench = new StoreBench(around(client), TTL);
            bench.release(bench.acquire("lost"));
            proxy.dropReplies();
            assertThatThrownBy(() -> bench.refusal("lost", bench.within(Duration.ofMillis(300))))
                    .isInstanceOf(UnknownOutcomeException.class);
            await().until(() -> admin.getChildren("/given/lost", false).size() == 1);
            bench.close();

            proxy.heal();
            proxy.resetConnections();

            await().until(() -> admin.getChildren("/given/lost", false).isEmpty());
            client.close();
            admin.close();
        }
    }

    @Test
    void whatIsHeldWhenTheStoreIsClosedIsGivenBack() throws Exception {
        ZooKeeper client = TestServers.client(server.connectString());
        StoreBench bench = new StoreBench(around(client), TTL);
        bench.acquire("kept");
        bench.queue("kept");
        bench.close();

        assertThat(client.getChildren("/given/kept", false)).isEmpty();
        client.close();
    }

    @Test
    void aWatchOfItsUserOnALocksDirectoryGoesOn() throws Exception {
        ZooKeeper client = TestServers.client(server.connectString());
        try (StoreBench bench = new StoreBench(around(client), TTL)) {
            TestTicket first = bench.acquire("watched");
            BlockingQueue<WatchedEvent> heard = new LinkedBlockingQueue<>();
            client.addWatch("/given/watched", heard::add, AddWatchMode.PERSISTENT_RECURSIVE);
            TestTicket second = bench.queue("watched");
            bench.release(first);
            assertThat(second.grants.poll(20, SECONDS)).isNotNull();
            bench.release(second);
            // Our view of it is given up after a tick.
            await().until(() -> {
                bench.release(bench.acquire("other"));
                return heard.size() >= 3;
            });
            heard.clear();
            await().pollDelay(TestServers.TICK.multipliedBy(3)).until(() -> true);

            bench.release(bench.acquire("watched"));

            assertThat(heard.poll(20, SECONDS)).isNotNull();
            assertThat(heard.poll(20, SECONDS)).isNotNull();
        } finally {
            client.close();
        }
    }

    @Test
    void aWaiterHearsThoughWatchesAreNotSetAgainOnANewConnection() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.address());
                StoreBench holding =
                        StoreBench.at("zookeeper://" + server.connectString() + "/given?tick=100ms", TTL)) {
            ZooKeeper client = forgetfulClient(proxy);
            try (StoreBench bench = new StoreBench(around(client), TTL)) {
                TestTicket holder = holding.acquire("forgotten-watch");
                TestTicket waiter = bench.queue("forgotten-watch");
                bench.renew(waiter);
                TestTicket theirs = holding.queue("forgotten-watch");
                TestTicket last = bench.queue("forgotten-watch");
                proxy.refuseConnections();
                proxy.resetConnections();
                holding.release(holder);
                proxy.heal();

                // Nobody renews them. The first is found by the look, the last hears of its turn.
                assertThat(waiter.grants.poll(20, SECONDS)).isNotNull();
                bench.release(waiter);
                assertThat(theirs.grants.poll(20, SECONDS)).isNotNull();
                holding.release(theirs);
                assertThat(last.grants.poll(20, SECONDS)).isNotNull();
            } finally {
                client.close();
            }
        }
    }

    @Test
    void aNewConnectionIsNoticedThoughItsClientTellsNobody() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.address())) {
            ZooKeeper client = forgetfulClient(proxy);
            try (StoreBench bench = new StoreBench(around(client), TTL)) {
                // More than once: the one who listens is forgotten each time.
                for (int i = 0; i < 3; i++) {
                    bench.release(bench.acquire("silent"));
                    long before = proxy.connections();
                    proxy.resetConnections();
                    await().atMost(Duration.ofSeconds(20))
                            .until(() -> proxy.connections() > before
                                    && client.getState().isConnected());
                }
                bench.release(bench.acquire("silent"));
            } finally {
                client.close();
            }
        }
    }

    @Test
    void aHolderHearsOfAForcedReleaseThoughWatchesAreNotSetAgainOnANewConnection() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.address());
                StoreBench other = StoreBench.at("zookeeper://" + server.connectString() + "/given?tick=100ms", TTL)) {
            ZooKeeper client = forgetfulClient(proxy);
            try (StoreBench bench = new StoreBench(around(client), TTL)) {
                TestTicket held = bench.acquire("robbed");
                bench.renew(held);
                proxy.resetConnections();
                assertThat(bench.renew(held)).isEqualTo(Renewed.KEPT);

                assertThat(other.store.forceRelease("robbed", other.soon())).isOne();

                assertThat(bench.renew(held)).isEqualTo(Renewed.GONE);
            } finally {
                client.close();
            }
        }
    }

    @Test
    void P1_whatWasKnownOfALockIsForgottenThoughWatchesAreNotSetAgainOnANewConnection() throws Exception {
        ZooKeeper admin = TestServers.client(server.connectString());
        try (TcpProxy proxy = TcpProxy.to(server.address())) {
            ZooKeeper client = forgetfulClient(proxy);
            // What is known is kept for a tick.
            StoreFactory store = ZooKeeperStores.using(client, "/given", Duration.ofSeconds(4), Ids.OPEN_ACL_UNSAFE);
            try (StoreBench bench = new StoreBench(store, TTL)) {
                for (int number = 0; number < 5; number++) {
                    bench.release(bench.acquire("remembered"));
                }
                proxy.refuseConnections();
                proxy.resetConnections();
                admin.delete("/given/remembered", -1);
                admin.create("/given/remembered", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
                for (int number = 0; number < 4; number++) {
                    admin.delete(foreignNode(admin), -1);
                }
                String theirs = foreignNode(admin);
                proxy.heal();

                TestTicket ours = bench.queue("remembered");

                admin.delete(theirs, -1);
                assertThat(ours.grants.poll(20, SECONDS)).isNotNull();
            } finally {
                client.close();
            }
        } finally {
            admin.close();
        }
    }

    private static String foreignNode(ZooKeeper admin) throws Exception {
        return admin.create(
                "/given/remembered/_c_foreign-lock-",
                new byte[0],
                Ids.OPEN_ACL_UNSAFE,
                CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    @Test
    void belowAChrootTheQueueIsFollowedToo() throws Exception {
        ZooKeeper admin = TestServers.client(server.connectString());
        admin.create("/app", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        ZooKeeper client = TestServers.client(server.connectString() + "/app");
        try (StoreBench bench = new StoreBench(around(client), TTL);
                StoreBench other =
                        StoreBench.at("zookeeper://" + server.connectString() + "/app/given?tick=100ms", TTL)) {
            TestTicket first = other.acquire("chrooted");
            TestTicket second = bench.queue("chrooted");
            TestTicket third = bench.queue("chrooted");
            other.release(first);
            assertThat(second.grants.poll(20, SECONDS)).isNotNull();
            bench.release(second);
            assertThat(third.grants.poll(20, SECONDS)).isNotNull();
        } finally {
            client.close();
            admin.close();
        }
    }

    /** Does not set its watches again on a new connection. */
    private static ZooKeeper forgetfulClient(TcpProxy proxy) throws IOException {
        ZKClientConfig forgetful = new ZKClientConfig();
        forgetful.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "true");
        return new ZooKeeper("127.0.0.1:" + proxy.port(), 30_000, event -> {}, forgetful);
    }

    private static StoreFactory around(ZooKeeper client) {
        return ZooKeeperStores.using(client, "/given", TestServers.TICK, Ids.OPEN_ACL_UNSAFE);
    }
}
