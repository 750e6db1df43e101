package io.holdfast.redis;

import static io.holdfast.redis.RedisTest.command;
import static io.holdfast.redis.TopologyConformanceTest.clusterUri;
import static io.holdfast.redis.TopologyConformanceTest.sentinelUri;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.LockView;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.redis.server.Replies;
import io.holdfast.servers.RedisCluster;
import io.holdfast.servers.RedisReplicaSet;
import io.holdfast.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.util.JedisClusterCRC16;

@DisplayName("Failover, and what asynchronous replication can lose")
class FailoverTest {

    private static final Duration DOWN_AFTER = Duration.ofSeconds(1);
    private static final LockOptions TTL_6S = LockOptions.defaults().withTtl(Duration.ofSeconds(6));
    private static final LockOptions TTL_12S = LockOptions.defaults().withTtl(Duration.ofSeconds(12));
    private static final LockOptions TTL_20S = LockOptions.defaults().withTtl(Duration.ofSeconds(20));
    /** Outlasts a failover that the Sentinels give up and begin again after twenty seconds. */
    private static final LockOptions TTL_36S = LockOptions.defaults().withTtl(Duration.ofSeconds(36));

    private static final LockOptions TTL_5MIN = LockOptions.defaults().withTtl(Duration.ofMinutes(5));

    /** After the promotion. */
    private static final Duration GOES_ON_WITHIN = Duration.ofSeconds(10);

    private final List<Runnable> opened = new ArrayList<>();

    @AfterEach
    void close() {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).run();
        }
    }

    private Holdfast client(String uri) {
        return client(uri, event -> {});
    }

    private Holdfast patientClient(String uri) {
        Holdfast client = Holdfast.builder()
                .store(uri)
                .closeTimeout(Duration.ofSeconds(1))
                .requestTimeout(Duration.ofSeconds(18))
                .connect();
        opened.add(client::close);
        return client;
    }

    private Holdfast client(String uri, LockListener listener) {
        Holdfast client = Holdfast.builder()
                .store(uri)
                .closeTimeout(Duration.ofSeconds(1))
                .listener(listener)
                .connect();
        opened.add(client::close);
        return client;
    }

    private RedisReplicaSet replicaSet() {
        RedisReplicaSet set =
                RedisReplicaSet.builder().replicas(1).downAfter(DOWN_AFTER).start();
        opened.add(set::close);
        return set;
    }

    private static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20));
    }

    /** Acquires as soon as somebody serves again. */
    private static Lease acquireEventually(DistributedLock lock) {
        CompletableFuture<Lease> acquired = new CompletableFuture<>();
        await().ignoreExceptions()
                .until(() -> lock.tryAcquire(Duration.ofSeconds(1))
                        .map(acquired::complete)
                        .orElse(false));
        return acquired.join();
    }

    /** Waits until the replica has all that was written so far. */
    private static void awaitReplication(RedisServer primary) {
        try (RedisClient redis = RedisClient.create("127.0.0.1", primary.port())) {
            long written = number(redis, "master_repl_offset:(\\d+)");
            await().until(() -> number(redis, "slave0:.*offset=(\\d+)") >= written);
        }
    }

    private static long number(RedisClient redis, String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(redis.info("replication"));
        return found.find() ? Long.parseLong(found.group(1)) : -1;
    }

    @Test
    void sentinelClientsGoOnAfterThePromotionWithLocksHeldWaitedForAndRenewed() throws Exception {
        RedisReplicaSet set = replicaSet();
        AtomicInteger renewals = new AtomicInteger();
        Holdfast holder =
                client(sentinelUri(set), event -> renewals.addAndGet(event instanceof LockEvent.Renewed ? 1 : 0));
        Holdfast other = client(sentinelUri(set));
        Lease held = holder.lock("held", TTL_36S).acquire();
        CompletableFuture<Lease> waiting = other.lock("held", TTL_36S).acquireAsync();
        await().until(() -> !holder.lock("held").inspect().waiters().isEmpty());
        RedisServer old = set.primary();
        awaitReplication(old);

        old.kill();
        RedisServer promoted = set.primary();
        long promotedAt = System.nanoTime();
        int before = renewals.get();

        assertThat(promoted).isNotSameAs(old);
        acquireEventually(other.lock("another", TTL_36S)).close();
        assertThat(Duration.ofNanos(System.nanoTime() - promotedAt)).isLessThan(GOES_ON_WITHIN);
        await().until(() -> renewals.get() > before);
        assertThat(held.isValid()).as("renewed by the new primary").isTrue();
        assertThat(waiting).isNotDone();
        held.release();
        Lease next = waiting.get(20, TimeUnit.SECONDS);
        assertThat(next.token()).isGreaterThan(held.token());
    }

    /** A lease that is valid after this was renewed since. */
    private static void awaitATtlSince(long nanos) {
        await().until(() -> System.nanoTime() - nanos > TTL_12S.ttl().toNanos());
    }

    @Test
    void withoutReplicasConfirmedAFailoverCanGrantTwiceAndTheTokenTells() throws Exception {
        RedisReplicaSet set = replicaSet();
        Holdfast first = client(sentinelUri(set));
        Holdfast second = client(sentinelUri(set));
        DistributedLock lock = first.lock("stock", TTL_5MIN);
        lock.acquire().close();
        RedisServer old = set.primary();
        awaitReplication(old);
        RedisServer replica = set.replicas().get(0);

        detach(replica);
        Lease early = lock.acquire();
        AtomicBoolean told = new AtomicBoolean();
        early.onLost(loss -> told.set(true));
        old.kill();
        set.primary();
        Lease late = acquireEventually(second.lock("stock", TTL_5MIN));

        // Two at once, which the documentation warns of: the first was neither released nor is its ttl over. It may
        // have been told
        // by now, since its client asks for its locks when it has found the new server.
        assertThat(late.isValid()).isTrue();
        assertThat(late.token()).isGreaterThan(early.token());
        AtomicLong fence = new AtomicLong();
        assertThat(passes(fence, late.token())).isTrue();
        assertThat(passes(fence, early.token())).isFalse();
        // Its own renewal, by which it would be told too, is far.
        await().untilAsserted(() ->
                assertThatThrownBy(() -> early.extend(TTL_5MIN.ttl())).isInstanceOf(LeaseLostException.class));
        await().untilTrue(told);
        assertThat(early.isValid()).isFalse();
        assertThat(late.isValid()).isTrue();
    }

    /** From now on the replica hears nothing of its primary, as if the network between them had failed. */
    private static void detach(RedisServer replica) {
        try (RedisClient redis = RedisClient.create("127.0.0.1", replica.port())) {
            RedisTest.command(redis, "REPLICAOF", "127.0.0.1", "1");
        }
    }

    private static boolean passes(AtomicLong fence, long token) {
        return fence.getAndAccumulate(token, Math::max) <= token;
    }

    @Test
    void withReplicasConfirmedAGrantTheReplicaDoesNotHaveDoesNotCount() throws Exception {
        RedisReplicaSet set = replicaSet();
        Holdfast client = client(sentinelUri(set) + "?replicas=1&timeout=1s");
        DistributedLock lock = client.lock("stock", TTL_6S);
        try (Lease fine = acquireEventually(lock)) {
            assertThat(fine.isValid()).isTrue();
        }
        RedisServer replica = set.replicas().get(0);

        replica.pause();
        assertThatThrownBy(() -> lock.tryAcquire(Duration.ofSeconds(1)))
                .isInstanceOf(UnknownOutcomeException.class)
                .hasMessageContaining("0 of 1 replicas");
        replica.resume();

        await().untilAsserted(() -> assertThat(lock.inspect().isHeld()).isFalse());
        acquireEventually(lock).close();
    }

    @Test
    void withReplicasConfirmedRefusalsAndReleasesWaitForNone() throws Exception {
        RedisReplicaSet set = replicaSet();
        // A request that waited for a replica would do so for half of that.
        Holdfast client = patientClient(sentinelUri(set) + "?replicas=1&timeout=18s");
        Lease held = acquireEventually(client.lock("stock", TTL_36S));
        DistributedLock lock =
                patientClient(sentinelUri(set) + "?replicas=1&timeout=18s").lock("stock", TTL_36S);
        assertThat(lock.tryAcquire()).isEmpty();

        set.replicas().get(0).pause();
        long start = System.nanoTime();
        assertThat(lock.tryAcquire()).isEmpty();
        held.release();

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(8));
        set.replicas().get(0).resume();
    }

    @Test
    void withReplicasConfirmedAPushedGrantIsConfirmedToo() throws Exception {
        RedisReplicaSet set = replicaSet();
        // Does not wait for the replica itself.
        Holdfast holder = client(sentinelUri(set));
        Lease held = holder.lock("stock", TTL_20S).acquire();
        Holdfast confirming = client(sentinelUri(set) + "?replicas=1&timeout=1s");
        acquireEventually(confirming.lock("another", TTL_20S)).close();
        CompletableFuture<Lease> waiting = confirming.lock("stock", TTL_20S).acquireAsync();
        await().until(() -> !holder.lock("stock").inspect().waiters().isEmpty());
        RedisServer replica = set.replicas().get(0);

        replica.pause();
        held.release();
        long releasedAt = System.nanoTime();

        await().until(() ->
                System.nanoTime() - releasedAt > Duration.ofSeconds(2).toNanos());
        assertThat(holder.lock("stock").inspect().isHeld()).isTrue();
        assertThat(waiting).as("granted, but not confirmed").isNotDone();
        replica.resume();
        assertThat(waiting.get(20, TimeUnit.SECONDS).isValid()).isTrue();
    }

    @Test
    @Tag("full")
    void aDeadShardDelaysNobodyElseAndItsReplicaTakesOver() throws Exception {
        RedisCluster cluster = clusterWithReplicas();
        Holdfast client = client(clusterUri(cluster));
        RedisServer victim = cluster.primaryFor("holdfast:doomed-0");
        List<Lease> spared = new ArrayList<>();
        List<Lease> doomed = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            String name = "doomed-" + i;
            Lease lease = client.lock(name, TTL_12S).acquire();
            (cluster.primaryFor("holdfast:" + name) == victim ? doomed : spared).add(lease);
        }
        assertThat(doomed).isNotEmpty();
        assertThat(spared).isNotEmpty();
        Holdfast other = client(clusterUri(cluster));
        CompletableFuture<Lease> waiting =
                other.lock(doomed.get(0).name(), TTL_12S).acquireAsync();
        await().until(() ->
                !client.lock(doomed.get(0).name()).inspect().waiters().isEmpty());
        awaitReplication(victim);

        victim.kill();
        long killedAt = System.nanoTime();

        // While the shard is dead, others do not wait for it, as a request to it would until it times out.
        Lease elsewhere = spared.remove(0);
        long start = System.nanoTime();
        elsewhere.release();
        client.lock(elsewhere.name(), TTL_12S).acquire().close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(4));

        cluster.primaryFor("holdfast:doomed-0");
        long promotedAt = System.nanoTime();
        Lease again = acquireEventually(client.lock(sameShardAs(cluster, doomed), TTL_12S));
        assertThat(Duration.ofNanos(System.nanoTime() - promotedAt)).isLessThan(GOES_ON_WITHIN);
        again.close();
        awaitATtlSince(killedAt);
        assertThat(doomed).as("renewed by the new primary").allMatch(Lease::isValid);
        assertThat(spared).allMatch(Lease::isValid);
        doomed.get(0).release();
        assertThat(waiting.get(30, TimeUnit.SECONDS).token())
                .isGreaterThan(doomed.get(0).token());
    }

    @Test
    void aHolderThatDidNotSurviveTheFailoverOfItsShardIsToldAndItsTokenIsPast() throws Exception {
        RedisCluster cluster = clusterWithReplicas();
        Holdfast client = client(clusterUri(cluster));
        RedisServer victim = cluster.primaryFor("holdfast:stock");
        RedisServer replica = cluster.nodes().get(3 + cluster.nodes().indexOf(victim));
        client.lock("stock", TTL_12S).acquire().close();
        awaitReplication(victim);

        lockOut(replica, victim);
        Lease lost = client.lock("stock", TTL_12S).acquire();
        AtomicBoolean told = new AtomicBoolean();
        lost.onLost(loss -> told.set(true));
        victim.kill();
        assertThat(cluster.primaryFor("holdfast:stock")).isSameAs(replica);

        Lease next = acquireEventually(client(clusterUri(cluster)).lock("stock", TTL_12S));
        assertThat(next.token()).isGreaterThan(lost.token());
        await().untilTrue(told);
        assertThat(lost.isValid()).isFalse();
        assertThat(next.isValid()).isTrue();
    }

    /** From now on the replica gets nothing from its primary, and remains the one to be promoted. */
    private static void lockOut(RedisServer replica, RedisServer primary) {
        try (RedisClient here = RedisClient.create("127.0.0.1", replica.port());
                RedisClient there = RedisClient.create("127.0.0.1", primary.port())) {
            RedisTest.command(here, "CONFIG", "SET", "masteruser", "nobody", "masterauth", "wrong");
            RedisTest.command(there, "CLIENT", "KILL", "TYPE", "replica");
            await().until(() -> here.info("replication").contains("master_link_status:down"));
        }
    }

    private static String sameShardAs(RedisCluster cluster, List<Lease> leases) {
        RedisServer shard = cluster.primaryFor("holdfast:" + leases.get(0).name());
        for (int i = 0; ; i++) {
            if (cluster.primaryFor("holdfast:free-" + i) == shard) {
                return "free-" + i;
            }
        }
    }

    @Test
    @Tag("full")
    void viewsAndPruningOfAClusterGoOnAfterAFailover() throws Exception {
        RedisCluster cluster = clusterWithReplicas();
        Holdfast holder = client(clusterUri(cluster));
        for (int i = 0; i < 12; i++) {
            holder.lock("job-" + i).acquire();
        }
        Holdfast onlooker = client(clusterUri(cluster));
        assertThat(onlooker.locks("job-")).hasSize(12);
        RedisServer victim = cluster.leaders().get(2);
        awaitReplication(victim);

        victim.kill();
        cluster.awaitWhole();

        assertThat(onlooker.locks("job-")).hasSize(12);
        assertThat(onlooker.administration().prune(Duration.ofDays(1))).isZero();
    }

    /** A server says so for a moment after a failover, though its neighbours serve already. */
    @Test
    void aListingWaitsForAServerThatSaysTheClusterIsDown() throws Exception {
        RedisCluster cluster = RedisCluster.start();
        opened.add(cluster::close);
        Holdfast holder = client(clusterUri(cluster));
        for (int i = 0; i < 12; i++) {
            holder.lock("job-" + i, TTL_5MIN).acquire();
        }
        Holdfast onlooker = client(clusterUri(cluster) + "?timeout=60s");
        assertThat(onlooker.locks("job-")).hasSize(12);
        RedisServer down = cluster.primaryFor("holdfast:job-0");
        String slot = freeSlotOf(cluster, down);
        CompletableFuture<List<LockView>> listing;
        try (RedisClient redis = RedisClient.create("127.0.0.1", down.port())) {
            command(redis, "CLUSTER", "DELSLOTS", slot);
            await().until(() -> info(redis, "CLUSTER", "INFO").contains("cluster_state:fail"));

            listing = CompletableFuture.supplyAsync(() -> onlooker.locks("job-"));
            // Each lock once, and one of them again on another connection and after a pause.
            await().until(() -> timesSaidDown(redis) > 12 + 2 || listing.isDone());
            command(redis, "CLUSTER", "ADDSLOTS", slot);
        }

        assertThat(listing.get(60, TimeUnit.SECONDS)).hasSize(12);
    }

    private static int timesSaidDown(RedisClient redis) {
        Matcher count = Pattern.compile("CLUSTERDOWN:count=(\\d+)").matcher(info(redis, "INFO", "errorstats"));
        return count.find() ? Integer.parseInt(count.group(1)) : 0;
    }

    private static String info(RedisClient redis, String command, String section) {
        return Replies.text(command(redis, command, section));
    }

    private static String freeSlotOf(RedisCluster cluster, RedisServer server) {
        String unused = IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "unused-" + i)
                .filter(key -> cluster.primaryFor(key) == server)
                .findFirst()
                .orElseThrow();
        return String.valueOf(JedisClusterCRC16.getSlot(unused));
    }

    private RedisCluster clusterWithReplicas() {
        RedisCluster cluster = RedisCluster.builder()
                .replicasPerShard(1)
                .nodeTimeout(Duration.ofSeconds(2))
                .start();
        opened.add(cluster::close);
        return cluster;
    }

    @Test
    void aServerThatWasTakenOutOfTheClusterIsNotBelievedThatNobodyServes() throws Exception {
        RedisServer alone =
                RedisServer.builder().setting("cluster-enabled", "yes").start();
        opened.add(alone::close);
        RedisCluster cluster = RedisCluster.start();
        opened.add(cluster::close);
        Holdfast client = client(clusterUri(cluster).replace("://", "://127.0.0.1:" + alone.port() + ","));

        assertThat(client.lock("orders").tryAcquire()).isPresent();
    }

    @Test
    void viewsOfAClusterCoverAllShards() throws Exception {
        RedisCluster cluster = RedisCluster.start();
        opened.add(cluster::close);
        Holdfast client = client(clusterUri(cluster));
        for (int i = 0; i < 12; i++) {
            client.lock("job-" + i).acquire();
        }

        assertThat(client.locks("job-")).hasSize(12);
        assertThat(Optional.of(client.administration().prune(Duration.ofDays(1))))
                .contains(0);
    }
}
