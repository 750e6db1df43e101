package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.ReleaseResult;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.Waiting;
import io.holdfast.redis.TestClient.TestTicket;
import io.holdfast.redis.TestClient.Told;
import io.holdfast.servers.RedisCluster;
import io.holdfast.servers.RedisReplicaSet;
import io.holdfast.servers.RedisServer;
import io.holdfast.servers.RedisServer.Fsync;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;

@DisplayName("Servers that are full, forgetful, slow, closed or not there")
class ServerStatesTest extends RedisTest {

    private String name;

    @BeforeEach
    void pickName() {
        name = name();
    }

    private RedisServer running(RedisServer.Builder builder) {
        return closing(builder.start(), RedisServer::close);
    }

    private Holdfast holdfast(String uri) {
        return closing(
                Holdfast.builder()
                        .store(uri)
                        .closeTimeout(Duration.ofMillis(500))
                        .connect(),
                Holdfast::close);
    }

    private static void isTimely(
            Duration limit, ThrowingCallable call, Class<? extends Throwable> failure, String... says) {
        long start = System.nanoTime();
        assertThatThrownBy(call).isInstanceOf(failure).hasMessageContainingAll(says);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(limit.plusSeconds(3));
    }

    @Test
    void aFullServerRefusesNewLocksAndStillRenewsAndReleases() {
        RedisServer full = running(RedisServer.builder().maxMemory("1gb", "noeviction"));
        TestClient client = client(full.uri());
        TestTicket held = client.grant(name);
        TestTicket waiting = client.enqueue(name);
        try (RedisClient redis = RedisClient.create("127.0.0.1", full.port())) {
            // Filling it up would not do: buffers of connections are freed a moment later, and there is room again.
            command(redis, "CONFIG", "SET", "maxmemory", "1");

            assertThatThrownBy(() -> client.attempt(name()))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("out of memory");
            assertThatThrownBy(() -> client.enqueue(name()))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("out of memory");
            assertThat(client.renew(held)).isEqualTo(Told.KEPT);
            assertThat(client.renew(waiting)).isEqualTo(Told.KEPT);
            client.release(held);
            await().until(waiting::isGranted);
        }
    }

    @Test
    void anEvictingPolicyIsWarnedAbout() throws Exception {
        RedisServer evicting = running(RedisServer.builder().maxMemory("50mb", "allkeys-lru"));
        List<String> warnings = warningsOf(EvictionWarning.class.getName());

        holdfast(evicting.uri()).lock(name).acquire().close();

        await().untilAsserted(
                        () -> assertThat(warnings).singleElement().asString().contains("allkeys-lru"));
    }

    @Test
    void aMissingRightToListenIsWarnedAboutOnceWithWhatToGrant() throws Exception {
        RedisServer strict = running(RedisServer.builder()
                .acl(
                        "user default on nopass +@all ~* &*",
                        "user mute on >secret ~holdfast:* ~{holdfast:* resetchannels +@all"));
        List<String> warnings = warningsOf("io.holdfast.redis.channel.Subscriber");
        LockOptions brief = LockOptions.defaults().withTtl(Duration.ofSeconds(3));
        Holdfast mute = holdfast("redis://mute:secret@127.0.0.1:" + strict.port());
        Lease held = holdfast(strict.uri()).lock(name, brief).acquire();
        CompletableFuture<Lease> waiting = mute.lock(name, brief).acquireAsync();
        await().until(() -> !mute.lock(name).inspect().waiters().isEmpty());

        held.release();

        assertThat(waiting.get(10, TimeUnit.SECONDS).isValid()).isTrue();
        assertThat(warnings).singleElement().asString().contains("redis.acl", "&holdfast:*", "+subscribe");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-publish", "-pubsub|numsub"})
    void aMissingRightToTellOthersIsWarnedAboutOnceWithWhatToGrant(String missing) throws Exception {
        RedisServer strict = running(RedisServer.builder()
                .acl(
                        "user default on nopass +@all ~* &*",
                        "user quiet on >secret ~holdfast:* ~{holdfast:* resetchannels &holdfast:* +@all " + missing));
        List<String> warnings = warningsOf("io.holdfast.redis.channel.Subscriber");

        // Held for long enough to listen.
        Lease held = holdfast("redis://quiet:secret@127.0.0.1:" + strict.port())
                .lock(name)
                .acquire();

        await().untilAsserted(() -> assertThat(warnings)
                .singleElement()
                .asString()
                .contains("tell others", "redis.acl", "&holdfast:*", "+publish +pubsub|numsub"));
        assertThat(held.isValid()).isTrue();
    }

    private List<String> warningsOf(String loggerName) {
        List<String> warnings = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                if (record.getLevel() == Level.WARNING) {
                    warnings.add(record.getMessage() + " " + Arrays.toString(record.getParameters()));
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger(loggerName);
        logger.addHandler(handler);
        return closing(warnings, any -> logger.removeHandler(handler));
    }

    @Test
    void aWrongPasswordIsSaidAtOnce() {
        RedisServer closed = running(RedisServer.builder().password("right"));

        isTimely(
                Duration.ofSeconds(2),
                () -> holdfast("redis://:wrong@127.0.0.1:" + closed.port())
                        .lock(name)
                        .acquire(),
                StoreUnavailableException.class,
                name,
                "password");
        isTimely(
                Duration.ofSeconds(2),
                () -> holdfast("redis://127.0.0.1:" + closed.port()).lock(name).acquire(),
                StoreUnavailableException.class,
                name,
                "password");
    }

    @Test
    void aWrongPasswordIsSaidAtOnceBehindSentinelsToo() {
        RedisReplicaSet set = closing(
                RedisReplicaSet.builder()
                        .replicas(1)
                        .each(node -> node.password("right"))
                        .start(),
                RedisReplicaSet::close);
        String hosts = TopologyConformanceTest.hosts(set.sentinels());

        isTimely(
                Duration.ofSeconds(2),
                () -> closing(
                                Holdfast.builder()
                                        .store("redis-sentinel://:wrong@" + hosts + "/" + set.masterName()
                                                + "?timeout=30s")
                                        .requestTimeout(Duration.ofSeconds(30))
                                        .connect(),
                                Holdfast::close)
                        .lock(name)
                        .acquire(),
                StoreUnavailableException.class,
                name,
                "password");
    }

    @Test
    void aMissingPermissionIsSaidAtOnce() {
        RedisServer strict = running(RedisServer.builder()
                .acl("user default on nopass +@all ~* &*", "user poor on >secret ~other:* +@all &*"));

        isTimely(
                Duration.ofSeconds(2),
                () -> holdfast("redis://poor:secret@127.0.0.1:" + strict.port())
                        .lock(name)
                        .acquire(),
                StoreUnavailableException.class,
                name,
                "permission");
    }

    @Test
    void aUserWithoutPubSubRightsCanStillPoll() throws Exception {
        RedisServer strict = running(RedisServer.builder()
                .acl(
                        "user default on nopass +@all ~* &*",
                        "user mute on >secret ~holdfast:* ~{holdfast:* resetchannels -@all +@scripting +@read +@write"
                                + " +@connection +time +info"));
        LockOptions polling = LockOptions.defaults().withWaiting(Waiting.poll());
        Holdfast client = holdfast("redis://mute:secret@127.0.0.1:" + strict.port());
        Lease held = client.lock(name, polling).acquire();
        CompletableFuture<Lease> waiting = holdfast("redis://mute:secret@127.0.0.1:" + strict.port())
                .lock(name, polling)
                .acquireAsync();

        held.release();

        assertThat(waiting.get(10, TimeUnit.SECONDS).isValid()).isTrue();
    }

    @Test
    void aKeyOfAnotherTypeIsNamed() {
        redis.set(keys(name).queue(), "not a queue");

        isTimely(
                Duration.ofSeconds(2),
                () -> holdfast(server.uri()).lock(name).acquire(),
                StoreUnavailableException.class,
                name,
                "holds something else");
    }

    @Test
    void aPingConnectsAndFindsAServerThatWasRestarted() {
        RedisServer restarted = running(RedisServer.builder());
        TestClient client = client(restarted.uri());
        client.store.ping(client.soon());

        restarted.kill();
        isTimely(
                Duration.ofSeconds(2),
                () -> client.store.ping(client.soon()),
                StoreUnavailableException.class,
                "cannot connect to 127.0.0.1:" + restarted.port());
        restarted.restart();

        client.store.ping(client.soon());
    }

    @Test
    void aPingSaysThatTheServerRefusesThePassword() {
        RedisServer closed = running(RedisServer.builder().password("right"));
        TestClient client = client("redis://:wrong@127.0.0.1:" + closed.port());

        assertThatThrownBy(() -> client.store.ping(client.soon()))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("password");
    }

    @Test
    void aHostWhereNothingListensIsSaidAtOnce() {
        isTimely(
                Duration.ofSeconds(2),
                () -> holdfast("redis://127.0.0.1:1").lock(name).acquire(),
                StoreUnavailableException.class,
                name,
                "cannot connect to 127.0.0.1:1");
    }

    @Test
    void aServerThatHangsIsNamedAlsoByAListing() {
        RedisServer hanging = closing(RedisServer.start(), RedisServer::close);
        Holdfast holdfast = holdfast(hanging.uri() + "?timeout=300ms");
        assertThat(holdfast.locks("")).isEmpty();

        hanging.pause();

        assertThatThrownBy(() -> holdfast.locks(""))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageStartingWith("The store is unavailable: ")
                .hasMessageContaining("did not answer in time")
                .hasMessageNotContainingAny("Exception", "Nothing was acquired");
        hanging.resume();
    }

    @Test
    void anUnknownHostIsSaid() {
        isTimely(
                Duration.ofSeconds(6),
                () -> holdfast("redis://no-such-host.invalid").lock(name).acquire(),
                StoreUnavailableException.class,
                name,
                "no-such-host.invalid");
    }

    @Test
    void aHostThatAcceptsAndNeverAnswersIsAnErrorAtTheDeadline() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            DistributedLock lock = holdfast("redis://127.0.0.1:" + silent.getLocalPort() + "?timeout=30s")
                    .lock(name);

            isTimely(Duration.ofMillis(300), () -> lock.tryAcquire(Duration.ofMillis(300)), LockException.class, name);
        }
    }

    @Test
    void aClusterNodeSaysToUseACluster() {
        RedisCluster cluster = closing(RedisCluster.start(), RedisCluster::close);
        RedisServer serving = cluster.primaryFor(keys(name).lock());
        RedisServer another = cluster.nodes().stream()
                .filter(node -> node != serving)
                .findFirst()
                .orElseThrow();

        isTimely(
                Duration.ofSeconds(2),
                () -> holdfast(another.uri()).lock(name).acquire(),
                StoreUnavailableException.class,
                name,
                "use redis-cluster://");
    }

    @Test
    void aServerOfAClusterThatTakesNoMoreConnectionsIsAskedAgain() {
        RedisCluster cluster = closing(RedisCluster.start(), RedisCluster::close);
        RedisServer serving = cluster.primaryFor(keys(name).lock());
        try (RedisClient redis = RedisClient.create("127.0.0.1", serving.port())) {
            command(redis, "CONFIG", "SET", "maxclients", "1");

            CompletableFuture<Lease> acquired = holdfast(TopologyConformanceTest.clusterUri(cluster))
                    .lock(name)
                    .acquireAsync();
            // One may have asked for the map of slots.
            await().until(() -> !redis.info("stats").matches("(?s).*rejected_connections:[01]\\s.*"));
            command(redis, "CONFIG", "SET", "maxclients", "1000");

            assertThat(acquired).succeedsWithin(Duration.ofSeconds(5));
        }
    }

    @Test
    void aServerThatSleepsPastTheDeadlineIsAnUnknownOutcomeThatIsUndone() throws Exception {
        RedisServer sleepy = running(RedisServer.builder().setting("enable-debug-command", "local"));
        DistributedLock lock =
                holdfast(sleepy.uri()).lock(name, LockOptions.defaults().withTtl(Duration.ofSeconds(3)));
        // A request on a connection that is not open yet is not one of unknown outcome.
        settleIn(lock, sleepy);
        try (RedisClient redis = patient(sleepy)) {
            CompletableFuture<Object> sleep =
                    CompletableFuture.supplyAsync(() -> command(redis, "DEBUG", "SLEEP", "2"));
            await().until(() -> isSlow(sleepy));

            assertThatThrownBy(() -> lock.tryAcquire(Duration.ofMillis(200)))
                    .isInstanceOf(UnknownOutcomeException.class);

            sleep.get(10, TimeUnit.SECONDS);
            await().untilAsserted(() -> assertThat(lock.inspect().isHeld()).isFalse());
        }
    }

    /** One that waits for an answer longer than the two seconds that are usual. */
    private static RedisClient patient(RedisServer at) {
        return RedisClient.builder()
                .hostAndPort("127.0.0.1", at.port())
                .clientConfig(DefaultJedisClientConfig.builder()
                        .socketTimeoutMillis(20_000)
                        .build())
                .build();
    }

    private static boolean isSlow(RedisServer at) {
        try (TestClient probe = new TestClient("redis://127.0.0.1:" + at.port())) {
            probe.store.view("probe", probe.within(Duration.ofMillis(100)));
            return false;
        } catch (LockException e) {
            return true;
        }
    }

    @Test
    void aClientPauseShorterThanTheTtlCostsNobodyTheLock() throws Exception {
        RedisServer paused = running(RedisServer.builder());
        LockOptions options = LockOptions.defaults().withTtl(Duration.ofSeconds(6));
        Lease held = holdfast(paused.uri()).lock(name, options).acquire();
        try (RedisClient redis = RedisClient.create("127.0.0.1", paused.port())) {
            command(redis, "CLIENT", "PAUSE", "2500", "ALL");
        }
        CompletableFuture<Lease> next =
                holdfast(paused.uri()).lock(name, options).acquireAsync();
        long pausedAt = System.nanoTime();

        await().until(() -> System.nanoTime() - pausedAt > Duration.ofSeconds(3).toNanos());

        assertThat(held.isValid()).isTrue();
        assertThat(held.release()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(next.get(20, TimeUnit.SECONDS).isValid()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Fsync.class)
    void anAppendOnlyFileKeepsLockQueueAndCounterOverAKill(Fsync fsync) {
        RedisServer durable = running(RedisServer.builder().appendOnly(fsync));
        TestClient client = client(durable.uri());
        TestTicket held = client.grant(name);
        TestTicket waiting = client.enqueue(name);
        // So that the clock alone would not make the next token larger.
        long ahead = System.currentTimeMillis() * 1000 + Duration.ofHours(1).toNanos() / 1000;
        client.store.raise(name, ahead, client.soon());

        try (RedisClient redis = RedisClient.create("127.0.0.1", durable.port())) {
            // While it syncs what was written before, it answers first and writes up to two seconds later.
            await().until(() -> redis.info("persistence").contains("aof_buffer_length:0\r"));
        }
        durable.kill();
        durable.restart();

        assertThat(client.attempt(name)).isPresent();
        assertThat(client.store.view(name, client.soon()).waiters()).hasSize(1);
        assertThat(client.renew(held)).isEqualTo(Told.KEPT);
        client.release(held);
        await().until(waiting::isGranted);
        assertThat(waiting.token()).isEqualTo(ahead + 1);
    }

    @Test
    void withoutPersistenceARestartForgetsLocksButTokensStillGrow() {
        RedisServer forgetful = running(RedisServer.builder());
        TestClient client = client(forgetful.uri());
        TestTicket held = client.grant(name);

        forgetful.kill();
        forgetful.restart();
        TestTicket next = client.grant(name);

        assertThat(next.token()).isGreaterThan(held.token());
        assertThat(client.renew(held)).isEqualTo(Told.GONE);
    }
}
