package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.etcd.TestClient.Renewed;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.EtcdCluster;
import io.holdfast.servers.EtcdServer;
import io.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Three members of etcd")
class ClusterTest {

    private static final Duration PATIENCE = Duration.ofSeconds(40);

    /** Nobody renews a waiter here while its members change. */
    private static final Duration TTL = Duration.ofSeconds(30);

    private static EtcdCluster cluster;

    private final String name = "lock-" + UUID.randomUUID();
    private TestClient one;
    private TestClient two;

    @BeforeAll
    static void startServers() {
        cluster = EtcdCluster.start();
    }

    @AfterAll
    static void stopServers() {
        cluster.close();
    }

    @BeforeEach
    void connect() {
        List<EtcdServer> order = new ArrayList<>(cluster.followers());
        order.add(0, cluster.leader());
        one = TestClient.of(uri(order));
        two = TestClient.of(uri(order));
    }

    @AfterEach
    void disconnect() {
        one.close();
        two.close();
        for (EtcdServer node : cluster.nodes()) {
            if (node.isRunning()) {
                node.resume();
            } else {
                node.restart();
            }
        }
        cluster.leader();
    }

    private static String uri(List<EtcdServer> order) {
        return order.stream()
                .map(node -> "127.0.0.1:" + node.port())
                .collect(Collectors.joining(",", "etcd://", "?timeout=3s"));
    }

    private TestTicket grantToOne() {
        return enqueue(one, TTL).arrived();
    }

    private TestTicket enqueueTwo() {
        return enqueue(two, TTL);
    }

    /** On a busy machine members may elect another leader at any time: who is not answered then asks again. */
    private TestTicket enqueue(TestClient client, Duration ttl) {
        return await().atMost(PATIENCE)
                .ignoreExceptionsInstanceOf(LockException.class)
                .until(
                        () -> {
                            TestTicket asked = client.ticket(name, Demand.exclusive(), ttl);
                            try {
                                return client.enqueue(asked);
                            } catch (LockException e) {
                                client.withdraw(asked);
                                throw e;
                            }
                        },
                        asked -> true);
    }

    private static void release(TestClient client, TestTicket held) {
        await().atMost(PATIENCE)
                .ignoreExceptionsInstanceOf(LockException.class)
                .until(() -> client.release(held) != null);
    }

    private void awaitRenewal(TestClient client, TestTicket grant) {
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(client.renew(grant)).isEqualTo(Renewed.KEPT));
    }

    @Test
    void holdersAndWaitersOutliveTheMemberTheyTalkTo() {
        TestTicket held = grantToOne();
        TestTicket waiter = enqueueTwo();
        // First in the address, so the one in use, and the leader too.
        cluster.leader().kill();

        awaitRenewal(one, held);
        assertThat(waiter.isGranted()).isFalse();
        release(one, held);
        assertThat(waiter.arrived().token()).isGreaterThan(held.token());
    }

    @Test
    void holdersAndWaitersOutliveALeaderThatHangs() {
        TestTicket held = grantToOne();
        TestTicket waiter = enqueueTwo();
        EtcdServer hanging = cluster.leader();
        hanging.pause();

        awaitRenewal(one, held);
        release(one, held);
        // Nothing tells a waiter that its member hangs but its own heartbeat.
        awaitRenewalOrGrant(waiter);
        assertThat(waiter.arrived().token()).isGreaterThan(held.token());
        hanging.resume();
    }

    /** None of its callers waits long enough for one answer to tell a member that hangs from one that is slow. */
    @Test
    void aNewClientWhoseCallersHaveLittleTimeGoesOnFromAFirstMemberThatHangs() {
        List<EtcdServer> order = new ArrayList<>(cluster.followers());
        order.add(cluster.leader());
        order.get(0).pause();

        try (TestClient hurried = TestClient.of(uri(order))) {
            await().atMost(Duration.ofSeconds(10))
                    .ignoreExceptionsInstanceOf(LockException.class)
                    .until(() -> hurried.store
                            .request(
                                    hurried.ticket(name).ticket,
                                    LockStore.Mode.QUEUE,
                                    TestClient.in(Duration.ofMillis(400)))
                            .isEmpty());
        }
    }

    /** Its answers come later than hurried callers wait for them, and soon enough for all others. */
    @Test
    void aMemberThatIsOnlyTooSlowForItsHurriedCallersStaysInUse() {
        try (TcpProxy first = TcpProxy.to(cluster.leader().address());
                TcpProxy next = TcpProxy.to(cluster.followers().get(0).address());
                TestClient hurried = TestClient.of(
                        "etcd://127.0.0.1:" + first.port() + ",127.0.0.1:" + next.port() + "?timeout=3s")) {
            first.delay(Duration.ofMillis(100));
            next.delay(Duration.ofMillis(100));

            for (int i = 0; i < 40; i++) {
                assertThatThrownBy(() -> hurried.store.ping(TestClient.in(Duration.ofMillis(100))))
                        .isInstanceOf(LockException.class);
            }

            assertThat(first.connections()).isEqualTo(1);
            assertThat(next.connections()).isZero();
        }
    }

    private void awaitRenewalOrGrant(TestTicket waiter) {
        await().atMost(PATIENCE).ignoreExceptions().until(() -> {
            two.renew(waiter);
            return waiter.isGranted();
        });
    }

    @Test
    void aLeadershipThatMovesIsHardlyNoticed() {
        TestTicket held = grantToOne();
        TestTicket waiter = enqueueTwo();
        EtcdServer old = cluster.leader();
        Etcdctl etcdctl = new Etcdctl(old.endpoint());
        String status = new Etcdctl(cluster.followers().get(0).endpoint()).run("endpoint", "status");
        etcdctl.run("move-leader", status.split(", ")[1]);

        awaitRenewal(one, held);
        release(one, held);
        waiter.arrived();
    }

    @Test
    void withoutAMajorityNothingIsGrantedAndAfterwardsAllGoesOn() {
        TestTicket held = enqueue(one, TestClient.TTL).arrived();
        TestTicket waiter = enqueue(two, TestClient.TTL);
        List<EtcdServer> lost = cluster.followers();
        lost.forEach(EtcdServer::kill);

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(one.renew(held)).isNotEqualTo(Renewed.KEPT));
        assertThat(failureOf(() -> two.attempt(name + "-other"))).isInstanceOf(LockException.class);
        assertThat(waiter.isGranted()).isFalse();

        lost.forEach(EtcdServer::restart);
        await().atMost(PATIENCE).ignoreExceptions().until(() -> one.attempt(name + "-afterwards"));
        // The lease began anew with the new leader, so what was held may have been kept; if not, its client knows.
        Renewed answer = one.renew(held);
        if (answer == Renewed.KEPT) {
            release(one, held);
        }
        await().atMost(PATIENCE).until(() -> waiter.isGranted() || waiter.isLost());
    }

    private static Throwable failureOf(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            return e;
        }
        return new AssertionError("did not fail");
    }

    @Test
    void p1p2ExclusionAndTokensHoldWhileLeadersAreKilled() throws Exception {
        int clients = 3;
        LockOptions options = LockOptions.defaults().withTtl(Duration.ofSeconds(4));
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        AtomicLong lastToken = new AtomicLong();
        AtomicInteger passes = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(clients);
        List<Future<?>> work = new ArrayList<>();
        AtomicBoolean over = new AtomicBoolean();
        for (int i = 0; i < clients; i++) {
            work.add(threads.submit(() -> {
                try (Holdfast holdfast = Holdfast.connect(uri(cluster.nodes()))) {
                    DistributedLock lock = holdfast.lock(name, options);
                    while (!over.get()) {
                        try (Lease lease = lock.acquire()) {
                            if (lease.isValid()) {
                                overlaps.addAndGet(inside.getAndIncrement() == 0 ? 0 : 1);
                                overlaps.addAndGet(lastToken.getAndSet(lease.token()) < lease.token() ? 0 : 1);
                                inside.decrementAndGet();
                                passes.incrementAndGet();
                            }
                        } catch (LockException e) {
                            // An outage: ask again.
                        }
                    }
                }
                return null;
            }));
        }
        await().atMost(PATIENCE).until(() -> passes.get() > 10);
        EtcdServer killed = cluster.leader();
        killed.kill();
        int before = passes.get();
        await().atMost(PATIENCE).until(() -> passes.get() > before + 10);
        over.set(true);
        for (Future<?> each : work) {
            each.get(60, TimeUnit.SECONDS);
        }
        threads.shutdown();
        assertThat(overlaps).hasValue(0);
    }
}
