package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.LockView.Origin;
import io.holdfast.StoreUnavailableException;
import io.holdfast.Waiting;
import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.RedisServer;
import io.holdfast.servers.RedisServer.Fsync;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import io.holdfast.tck.CoreStoreContract;
import io.holdfast.tck.LockStoreContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import redis.clients.jedis.RedisClient;

@DisplayName("Redlock on five real servers")
class RedlockTest {

    /** Generous, for a busy machine; the default is a 200th of the ttl. */
    private static final String NODE_TIMEOUT = "?node-timeout=3s";

    /** Five servers and the threads that ask them share two cores with everything else. */
    private static final Duration SHORT_TTL = Duration.ofSeconds(1);

    private static List<RedisServer> servers;

    private final List<Runnable> opened = new ArrayList<>();

    @BeforeAll
    static void start() {
        servers = five();
    }

    @AfterAll
    static void stop() {
        servers.forEach(RedisServer::close);
    }

    @BeforeEach
    void reviveServers() {
        for (RedisServer server : servers) {
            if (!server.isRunning()) {
                server.restart();
            }
        }
    }

    @AfterEach
    void close() {
        opened.forEach(Runnable::run);
    }

    private static List<RedisServer> five() {
        return IntStream.range(0, 5).mapToObj(i -> RedisServer.start()).toList();
    }

    private static String uri(List<RedisServer> nodes) {
        return "redlock://"
                + nodes.stream().map(node -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
    }

    private Holdfast client() {
        return client(uri(servers) + NODE_TIMEOUT);
    }

    private Holdfast client(String uri) {
        Holdfast client = Holdfast.builder()
                .store(uri)
                .closeTimeout(Duration.ofMillis(500))
                .connect();
        opened.add(client::close);
        return client;
    }

    private static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(20));
    }

    private static boolean holds(RedisServer server, String name) {
        try (RedisClient redis = RedisClient.create("127.0.0.1", server.port())) {
            return redis.exists("holdfast:" + name);
        }
    }

    @Test
    void twoOfFiveKilledAndAllWorks() throws Exception {
        DistributedLock lock = client().lock("two-down", LockOptions.defaults().withTtl(Duration.ofSeconds(5)));
        Lease before = lock.acquire();
        servers.get(0).kill();
        servers.get(3).kill();

        long renewedUntil = System.nanoTime() + Duration.ofSeconds(6).toNanos();
        await().until(() -> System.nanoTime() - renewedUntil > 0);
        assertThat(before.isValid()).as("renewed by the three that live").isTrue();
        before.release();
        try (Lease after = lock.acquire()) {
            assertThat(after.token()).isGreaterThan(before.token());
        }
    }

    @Test
    void threeOfFiveKilledIsAClearErrorAndNothingIsHeld() {
        Holdfast client = client();
        servers.get(0).kill();
        servers.get(1).kill();
        servers.get(2).kill();

        assertThatThrownBy(() -> client.lock("three-down").tryAcquire(Duration.ofSeconds(3)))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("2 of 5 nodes")
                .hasMessageContaining("127.0.0.1:" + servers.get(0).port())
                .hasMessageContaining("cannot connect");
        await().until(() -> !holds(servers.get(3), "three-down") && !holds(servers.get(4), "three-down"));
    }

    @Test
    void aSlowNodeDoesNotSlowTheAcquisition() throws Exception {
        try (TcpProxy slow = TcpProxy.to(servers.get(2).address())) {
            List<String> hosts = servers.stream()
                    .map(server -> "127.0.0.1:" + (server == servers.get(2) ? slow.port() : server.port()))
                    .toList();
            DistributedLock lock = client("redlock://" + String.join(",", hosts) + NODE_TIMEOUT)
                    .lock("slow");
            lock.acquire().close();
            slow.delay(Direction.TO_CLIENT, Duration.ofSeconds(4));

            long start = System.nanoTime();
            for (int i = 0; i < 5; i++) {
                lock.acquire().close();
            }

            // It was waited for a moment (a quarter of the node timeout) once, and then not any more.
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(4));
        }
    }

    @Test
    void aRefusalSaysWhatEachNodeSaid() throws Exception {
        client().lock("taken").acquire();
        servers.get(4).kill();
        StoreContext context = new StoreContext(
                new OwnerId.Source().client(), "test", TimeSource.system(), (nanos, task) -> () -> {}, Runnable::run);
        Ticket ticket = new Ticket(
                "taken",
                new OwnerId.Source().next(),
                Demand.exclusive(),
                Duration.ofSeconds(30),
                new Origin("test", "host", 42, "main"),
                new Validity(TimeSource.system(), Duration.ZERO),
                new Ticket.Listener() {});
        try (LockStore store = new RedisStores()
                .store(StoreUri.parse(uri(servers) + NODE_TIMEOUT))
                .open(context)) {
            Deadline deadline = Deadline.after(TimeSource.system(), Duration.ofSeconds(10));
            Refusal refusal =
                    store.request(ticket, LockStore.Mode.TRY, deadline).orElseThrow();

            assertThat(refusal.reason())
                    .contains("0 of 5 nodes granted it, 3 are needed")
                    .contains("refused, held or waited for by somebody else")
                    .contains("cannot connect to 127.0.0.1:" + servers.get(4).port());
        }
    }

    @Test
    void nodesAreAskedOncePerTry() throws Exception {
        for (RedisServer server : servers) {
            try (RedisClient redis = RedisClient.create("127.0.0.1", server.port())) {
                redis.set("holdfast:tries", "another program");
            }
        }
        LockOptions thrice = LockOptions.defaults().withWaiting(Waiting.poll().withTries(3));
        DistributedLock lock = client().lock("tries", thrice);
        assertThat(lock.tryAcquire()).isEmpty();
        try (RedisClient redis = RedisClient.create("127.0.0.1", servers.get(0).port())) {
            long before = RedisTest.calls(redis, "evalsha");

            assertThat(lock.tryAcquire(Duration.ofSeconds(10))).isEmpty();

            assertThat(RedisTest.calls(redis, "evalsha") - before).isEqualTo(3);
        }
    }

    @Test
    void aNodeRestartedEmptyMayLetASecondHolderInAndTheTokenTells() throws Exception {
        String three = uri(servers.subList(0, 3)) + NODE_TIMEOUT;
        LockOptions options = LockOptions.defaults().withTtl(Duration.ofSeconds(30));
        RedisServer forgetful = servers.get(1);
        RedisServer away = servers.get(2);
        away.kill();
        // Granted by nodes 1 and 2 of 3.
        Lease first = client(three).lock("empty", options).acquire();
        AtomicBoolean told = new AtomicBoolean();
        first.onLost(loss -> told.set(true));
        forgetful.restartEmpty();
        away.restart();

        // Nodes 2 and 3 know nothing of it: a majority. That is why a node must stay away for a ttl after a crash.
        Lease second = client(three).lock("empty", options).acquire();

        assertThat(first.isValid() && second.isValid())
                .as("two holders, until the first renews")
                .isTrue();
        assertThat(second.token()).isGreaterThan(first.token());
        await().untilTrue(told);
        assertThat(first.isValid()).isFalse();
        assertThat(second.isValid()).isTrue();
    }

    @Test
    void aClientWithOneMoreNodeInItsListCanHaveAMajorityOfItsOwn() throws Exception {
        List<RedisServer> three = servers.subList(0, 3);
        servers.get(0).kill();
        Lease first = client(uri(three) + NODE_TIMEOUT).lock("lists").acquire();
        servers.get(0).restart();

        // Of five: nodes 1, 4 and 5 are a majority that does not meet {2, 3}. Change the list of all clients at once.
        Lease second = client(uri(servers) + NODE_TIMEOUT).lock("lists").acquire();

        assertThat(first.isValid() && second.isValid()).isTrue();
    }

    /** Every other round a node runs ahead of all clocks, and is away in the next: only the others can remember its token. */
    @Test
    void tokensGrowAcrossAnySequenceOfMajorities() throws Exception {
        List<RedisServer> durable = IntStream.range(0, 5)
                .mapToObj(i -> RedisServer.builder().appendOnly(Fsync.NO).start())
                .toList();
        durable.forEach(server -> opened.add(server::close));
        Random random = new Random(42);
        long last = 0;
        List<RedisServer> down = List.of();
        for (int round = 0; round < 12; round++) {
            down.forEach(RedisServer::kill);
            List<RedisServer> up = new ArrayList<>(durable);
            up.removeAll(down);
            RedisServer ahead = up.get(random.nextInt(up.size()));
            if (round % 2 == 0) {
                runAhead(ahead, "random", Duration.ofHours(round + 1));
            }
            Holdfast client = client(uri(durable) + NODE_TIMEOUT);
            for (int i = 0; i < 3; i++) {
                try (Lease lease = client.lock("random").acquire()) {
                    assertThat(lease.token()).isGreaterThan(last);
                    last = lease.token();
                }
            }
            client.close();
            down.forEach(RedisServer::restart);
            down = new ArrayList<>(List.of(ahead));
            RedisServer another = durable.get(random.nextInt(durable.size()));
            if (another != ahead) {
                down.add(another);
            }
        }
    }

    private static void runAhead(RedisServer server, String name, Duration ahead) {
        try (RedisClient redis = RedisClient.create("127.0.0.1", server.port())) {
            long micros = System.currentTimeMillis() * 1000 + ahead.toNanos() / 1000;
            redis.set(RedisTest.keys(name).counter(), String.valueOf(micros));
        }
    }

    @Test
    void theAgreedTokenIsWrittenBackToAMajority() throws Exception {
        // One node is far ahead of the others: its clock, or a counter raised before.
        runAhead(servers.get(0), "agreed", Duration.ofHours(1));
        Lease first = client().lock("agreed").acquire();
        first.release();
        servers.get(0).kill();

        try (Lease second = client().lock("agreed").acquire()) {
            assertThat(second.token()).isGreaterThan(first.token());
        }
    }

    @Test
    void fewerThanThreeServersAreRefused() {
        assertThatThrownBy(() -> new RedisStores().store(StoreUri.parse("redlock://a,b")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("three");
    }

    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    @DisplayName("Conformance: Redlock")
    class Core extends CoreStoreContract {
        private final List<RedisServer> own = five();

        @AfterAll
        void stopOwn() {
            own.forEach(RedisServer::close);
        }

        @Override
        public StoreFactory store() {
            return new RedisStores().store(StoreUri.parse(uri(own) + NODE_TIMEOUT));
        }

        @Override
        public Duration shortTtl() {
            return SHORT_TTL;
        }
    }

    @Nested
    @Tag("full")
    @TestInstance(Lifecycle.PER_CLASS)
    @DisplayName("Conformance: all of it on Redlock")
    class Whole extends LockStoreContract {
        private final List<RedisServer> own = five();

        @AfterAll
        void stopOwn() {
            own.forEach(RedisServer::close);
        }

        @Override
        public StoreFactory store() {
            return new RedisStores().store(StoreUri.parse(uri(own) + NODE_TIMEOUT));
        }

        @Override
        public Duration shortTtl() {
            return SHORT_TTL;
        }

        @Override
        public Optional<List<String>> leftovers(String name) {
            return Optional.of(own.stream()
                    .filter(server -> holds(server, name))
                    .map(RedisServer::name)
                    .toList());
        }
    }
}
