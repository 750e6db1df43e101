package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.Renewal;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.etcd.TestClient.Renewed;
import io.holdfast.etcd.internal.wire.LeaseKeepAliveResponse;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveRequest;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.session.SessionProbe;
import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.EtcdServer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("When something goes wrong with etcd")
class FaultsTest {

    private static final Duration SHORT = Duration.ofSeconds(2);

    private static EtcdServer server;
    private static Etcdctl etcdctl;

    private final String name = "lock-" + UUID.randomUUID();
    private TcpProxy proxy;
    private TestClient one;
    private TestClient two;

    @BeforeAll
    static void startServer() {
        server = EtcdServer.start();
        etcdctl = new Etcdctl(server.endpoint());
        // The first request of a JVM takes its time, and clients here wait no longer than a second.
        try (TestClient first = TestClient.of("etcd://127.0.0.1:" + server.port())) {
            first.release(first.grant("first"));
        }
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        proxy = TcpProxy.to(server.address());
        one = TestClient.of("etcd://127.0.0.1:" + server.port());
        two = TestClient.of("etcd://127.0.0.1:" + proxy.port() + "?timeout=1s");
    }

    @AfterEach
    void disconnect() {
        proxy.heal();
        one.close();
        two.close();
        proxy.close();
    }

    private List<String> keys() {
        return etcdctl.keys("holdfast/" + name + "/");
    }

    private List<String> leases() {
        return etcdctl.leases("holdfast/" + name + "/");
    }

    private static String leaseOf(TestTicket ticket) {
        return ticket.session().leaseHex();
    }

    private static Deadline in(Duration time) {
        return TestClient.in(time);
    }

    private static boolean isOlderThan(TestTicket held, Duration age) {
        return System.nanoTime() - held.ticket.baseNanos() > age.toNanos();
    }

    private void compact() {
        String json = etcdctl.run("get", "-w", "json", "nothing");
        String revision = json.replaceAll("(?s).*\"revision\":(\\d+).*", "$1");
        etcdctl.run("compact", revision);
    }

    @Test
    void compactionDuringAWaitHurtsNobody() {
        TestTicket held = one.grant(name);
        TestTicket waiter = two.enqueue(name);
        one.release(one.grant(name + "-other"));
        compact();
        proxy.resetConnections();
        one.release(one.grant(name + "-other"));
        compact();

        one.release(held);
        two.release(waiter.arrived());
    }

    @Test
    void aRenewalAnsweredAfterItsTimeRevivesNothing() {
        try (TestClient slow = TestClient.of("etcd://127.0.0.1:" + proxy.port() + "?timeout=10s")) {
            Duration ttl = Duration.ofSeconds(4);
            TestTicket held = slow.grant(slow.ticket(name, Demand.exclusive(), ttl));
            // Two round trips: the key is read in time, and the answer comes when the ticket has ended, which a
            // sweep that waits for an answer itself notices up to a third of the ttl late.
            await().until(() -> isOlderThan(held, ttl.dividedBy(2)));
            proxy.delay(Direction.TO_CLIENT, ttl.multipliedBy(21).dividedBy(50));

            assertThat(slow.renew(held)).isEqualTo(Renewed.GONE);

            assertThat(held.heardOfLoss()).isEqualTo(LossReason.EXPIRED);
            proxy.heal();
            one.release(one.grant(name));
        }
    }

    @Test
    void aRequestOfUnknownOutcomeCostsNobodyALockBeforeItsTime() {
        Duration ttl = Duration.ofSeconds(5);
        TestTicket held = two.grant(two.ticket(name, Demand.exclusive(), ttl));
        // Later than the last sweep, as renewals are.
        await().until(() -> isOlderThan(held, ttl.dividedBy(2)));
        assertThat(two.renew(held)).isEqualTo(Renewed.KEPT);
        proxy.cut();
        assertThatThrownBy(() -> two.attempt(two.ticket(name + "-other", Demand.exclusive(), ttl)))
                .isInstanceOf(UnknownOutcomeException.class);

        await().atMost(Duration.ofSeconds(20)).until(held::isLost);

        assertThat(held.heardOfLoss()).isEqualTo(LossReason.EXPIRED);
    }

    @Test
    void aLeaseIsExtendedNoMoreWhileALostRequestCannotBeClearedAwayAndAgainWhenItCan() {
        try (Meddler meddler = new Meddler(proxy.port());
                TestClient meddled = meddler.client()) {
            Duration ttl = Duration.ofSeconds(4);
            TestTicket held = meddled.grant(meddled.ticket(name, Demand.exclusive(), ttl));
            meddler.listsKeys = false;
            proxy.dropReplies();
            assertThatThrownBy(() -> meddled.attempt(
                            meddled.ticket(name + "-other", Demand.exclusive(), ttl), in(Duration.ofMillis(500))))
                    .isInstanceOf(UnknownOutcomeException.class);
            proxy.heal();
            proxy.resetConnections();

            await().until(() -> meddled.renew(held), Renewed.KEPT::equals);
            await().until(() -> meddled.renew(held) == Renewed.FAILING
                    && held.failure.orElseThrow().getMessage().contains("cleared away first"));
            meddler.listsKeys = true;

            await().until(() -> meddled.renew(held), Renewed.KEPT::equals);
            assertThat(meddled.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
        }
    }

    @Test
    void p9UnwantedKeysOfALeaseThatMayNotBeListedAreClearedAwayAndOthersKept() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            Duration ttl = Duration.ofSeconds(2);
            TestTicket held = meddled.grant(meddled.ticket(name, Demand.exclusive(), ttl));
            TestTicket unwanted = meddled.grant(meddled.ticket(name + "-other", Demand.exclusive(), ttl));
            meddler.forbids = LeaseTimeToLiveRequest.class::isInstance;
            meddler.deletes = false;
            assertThatThrownBy(() -> meddled.release(unwanted)).isInstanceOf(LockException.class);
            meddler.deletes = true;

            await().until(() -> one.attempt(name + "-other"));
            await().during(ttl.multipliedBy(2))
                    .atMost(ttl.multipliedBy(4))
                    .until(() -> meddled.renew(held), Renewed.KEPT::equals);
            TestTicket next = meddled.grant(meddled.ticket(name + "-next", Demand.exclusive(), ttl));
            assertThat(leaseOf(next)).isNotEqualTo(leaseOf(held));
        }
    }

    @Test
    void p9KeysThatMayNotBeDeletedKeepNoOtherFromBeingWithdrawn() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            List<TestTicket> waiters = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                one.grant(name + i);
                waiters.add(meddled.enqueue(name + i));
            }
            waiters.forEach(waiter -> waiter.ticket.end());
            meddler.forbids = request -> request instanceof TxnRequest txn
                    && Meddler.deletesAKey(txn)
                    && txn.toString().contains(name + 3);

            for (int i : List.of(0, 1, 2, 4)) {
                assertThat(meddled.withdraw(waiters.get(i))).isEqualTo(Withdrawal.REMOVED);
                assertThat(one.store.view(name + i, TestClient.soon()).waiters())
                        .isEmpty();
            }
            assertThatThrownBy(() -> meddled.withdraw(waiters.get(3))).isInstanceOf(StoreUnavailableException.class);
        }
    }

    @Test
    void aReleaseWhileTheWatchStreamIsBrokenIsNotMissed() {
        TestTicket held = one.grant(name);
        TestTicket waiter = two.enqueue(name);
        proxy.refuseConnections();
        proxy.resetConnections();
        one.release(held);
        proxy.heal();

        waiter.arrived();
    }

    @Test
    void aWatchTheServerCancelsIsOpenedAgain() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            TestTicket held = one.grant(name);
            TestTicket waiter = meddled.enqueue(name);
            await().until(() -> meddler.watchIds.size() == 2);
            List.copyOf(meddler.watchIds).forEach(meddler::cancelWatch);
            await().until(() -> meddler.watchIds.size() == 4);

            one.release(held);
            waiter.arrived();
        }
    }

    @Test
    void p1AKeepAliveOfADeposedLeaderDoesNotCount() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            TestTicket grant = meddled.grant(name);
            meddler.keepAlives = kept -> kept.toBuilder()
                    .setHeader(kept.getHeader().toBuilder()
                            .setRaftTerm(kept.getHeader().getRaftTerm() - 1))
                    .build();
            assertThat(meddled.renew(grant)).isEqualTo(Renewed.FAILING);

            meddler.keepAlives = kept -> kept;
            assertThat(meddled.renew(grant)).isEqualTo(Renewed.KEPT);
        }
    }

    @Test
    void p1AKeepAliveOfADeposedLeaderIsNotProvenByATicketThatIsWrittenAfterIt() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            meddled.grant(name + "-before");
            meddler.keepAlives = kept -> kept.toBuilder()
                    .setHeader(kept.getHeader().toBuilder()
                            .setRaftTerm(kept.getHeader().getRaftTerm() - 1))
                    .build();
            long askedNanos = System.nanoTime();
            assertThat(fixed(meddled, name).ticket.baseNanos()).isLessThan(askedNanos);

            meddler.keepAlives = kept -> kept;
            assertThat(fixed(meddled, name + "-after").ticket.baseNanos()).isGreaterThanOrEqualTo(askedNanos);
        }
    }

    private static TestTicket fixed(TestClient client, String lock) {
        return client.grant(client.ticket(lock, Demand.exclusive(), TestClient.TTL, Renewal.NONE));
    }

    /** etcd before 3.4.38, 3.5.23 and 3.6.5 may say of a lease that has just been revoked that it is extended. */
    @Test
    void p1AKeepAliveOfARevokedLeaseDoesNotCount() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            TestTicket grant = meddled.grant(name);
            SessionProbe session = grant.session();
            await().until(session::hasItsOwnKey);
            long baseNanos = session.baseNanos();
            meddler.watched = told -> List.of();
            meddler.keepAlives = kept -> kept.toBuilder().setTtl(10).build();

            etcdctl.run("lease", "revoke", session.leaseHex());

            assertThat(meddled.renew(grant)).isEqualTo(Renewed.GONE);
            assertThat(session.baseNanos()).as("when it was last extended").isEqualTo(baseNanos);
            assertThat(session.isOver()).isTrue();
        }
    }

    @Test
    void whoAsksWhileNothingCanBeExtendedIsRefusedAndCostsNobodyHisLease() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            Duration ttl = Duration.ofSeconds(6);
            TestTicket held = meddled.grant(meddled.ticket(name, Demand.exclusive(), ttl));
            meddler.keepAlives = kept -> kept.toBuilder()
                    .setHeader(kept.getHeader().toBuilder()
                            .setRaftTerm(kept.getHeader().getRaftTerm() - 1))
                    .build();
            SessionProbe session = held.session();
            await().until(() -> System.nanoTime() - session.baseNanos() > ttl.toNanos() / 2);

            assertThatThrownBy(() -> meddled.attempt(meddled.ticket(name + "-other", Demand.exclusive(), ttl)))
                    .isInstanceOf(StoreUnavailableException.class);
            meddler.keepAlives = kept -> kept;
            assertThat(meddled.renew(held)).isEqualTo(Renewed.KEPT);
            assertThat(held.isLost()).isFalse();
        }
    }

    @Test
    void aLeaderThatDoesNotKnowALeaseYetIsNotBelieved() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            TestTicket grant = meddled.grant(name);
            meddler.keepAlives =
                    kept -> LeaseKeepAliveResponse.newBuilder(kept).setTtl(0).build();
            assertThat(meddled.renew(grant)).isEqualTo(Renewed.FAILING);

            meddler.keepAlives = kept -> kept;
            assertThat(meddled.renew(grant)).isEqualTo(Renewed.KEPT);
        }
    }

    @Test
    void p5ALeaseRevokedFromOutsideFailsHoldersAndWaitersAtOnce() {
        // No renewal or heartbeat is due for so long: only a watch can tell.
        Duration ttl = Duration.ofMinutes(5);
        TestTicket foreign = one.grant(one.ticket(name, Demand.exclusive(), ttl));
        TestTicket waiter = two.enqueue(two.ticket(name, Demand.exclusive(), ttl));
        TestTicket held = two.grant(two.ticket(name + "-held", Demand.exclusive(), ttl));

        etcdctl.run("lease", "revoke", leaseOf(held));
        waiter.heardOfLoss();
        assertThat(held.heardOfLoss()).isEqualTo(LossReason.GONE);
        assertThat(two.renew(held)).isEqualTo(Renewed.GONE);

        one.release(foreign);
        TestTicket again = two.grant(name);
        assertThat(again.token()).isGreaterThan(foreign.token());
        assertThat(waiter.isGranted()).isFalse();
    }

    @Test
    void aSessionThatEndsWhileALockIsBeingTakenCostsNobodyTheRequest() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            TestTicket earlier = meddled.grant(name + "-earlier");
            TestTicket asked = meddled.ticket(name);
            meddler.delaysAnswerTo = request -> request instanceof TxnRequest txn && Meddler.bindsAKey(txn);
            CompletableFuture<TestTicket> granted = CompletableFuture.supplyAsync(() -> meddled.grant(asked));
            await().until(() -> !meddler.underWay.isEmpty());
            etcdctl.run("lease", "revoke", leaseOf(earlier));
            assertThat(earlier.heardOfLoss()).isEqualTo(LossReason.GONE);

            meddler.letGo();

            granted.orTimeout(20, TimeUnit.SECONDS).join();
            assertThat(asked.isLost()).isFalse();
            assertThat(leases()).containsExactly(leaseOf(asked));
            assertThat(meddled.release(asked)).isEqualTo(ReleaseAnswer.RELEASED);
        }
    }

    @Test
    void p5AForcedReleaseBeforeTheWatchIsOpenIsToldAsSoonAsItIs() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            meddler.delayWatches();
            TestTicket held = meddled.grant(meddled.ticket(name, Demand.exclusive(), Duration.ofMinutes(5)));
            assertThat(one.store.forceRelease(name, TestClient.soon())).isEqualTo(1);
            meddler.openWatches();

            await().until(held::isLost);
        }
    }

    @Test
    void p1RevokingALeaseGrantsNothingToWaitersOfTheSameSession() {
        TestTicket held = one.grant(name);
        TestTicket waiter = one.enqueue(name);

        etcdctl.run("lease", "revoke", leaseOf(held));
        waiter.heardOfLoss();
        assertThat(waiter.isGranted()).isFalse();
        assertThat(keys()).isEmpty();
    }

    @Test
    void keysDeletedFromOutsideAreFoundOutByTheNextRenewal() {
        one.grant(name);
        TestTicket waiter = two.enqueue(name);
        etcdctl.run("del", "--prefix", "holdfast/" + name + "/");

        // It may take it for its turn; the next renewal knows better.
        await().until(() -> waiter.isGranted() || waiter.isLost());
        assertThat(two.renew(waiter)).isEqualTo(Renewed.GONE);
    }

    @Test
    void p1ALockIsLostWhoseKeySomebodyBoundToAnotherLease() {
        TestTicket held = one.grant(name);
        String lease = etcdctl.newLease(Duration.ofMinutes(1));
        etcdctl.run("put", "--lease=" + lease, keys().get(0), "bound anew");

        assertThat(one.renew(held)).isEqualTo(Renewed.GONE);
    }

    @Test
    void p1NobodyIsGrantedALeaseThatExpiredDuringTheWait() {
        TestTicket held = one.grant(name);
        TestTicket waiter = two.enqueue(two.ticket(name, Demand.exclusive(), SHORT));
        proxy.cut();
        await().atMost(Duration.ofSeconds(20)).until(() -> keys().size() == 1);
        one.release(held);
        proxy.heal();

        waiter.heardOfLoss();
        assertThat(waiter.isGranted()).isFalse();
    }

    @Test
    void anUnreachableServerIsUnavailableAndTheNextCallAfterItsReturnWorks() {
        two.release(two.grant(name));
        proxy.refuseConnections();
        proxy.resetConnections();
        await().untilAsserted(() -> assertThatThrownBy(() -> two.attempt(name))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(name));
        assertThatThrownBy(() -> two.store.ping(TestClient.soon())).isInstanceOf(StoreUnavailableException.class);
        proxy.heal();

        two.store.ping(TestClient.soon());

        assertThat(two.attempt(name)).isTrue();
    }

    @Test
    void aDeadlineIsKeptWhenTheServerIsSilent() {
        two.release(two.grant(name));
        proxy.cut();
        long before = System.nanoTime();
        assertThatThrownBy(() -> two.attempt(two.ticket(name), in(Duration.ofMillis(500))))
                .isInstanceOf(UnknownOutcomeException.class);

        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void theOnlyMemberIsNotLeftBecauseOneRequestTakesTooLong() {
        try (TestClient slow = TestClient.of("etcd://127.0.0.1:" + proxy.port() + "?timeout=20s")) {
            slow.release(slow.grant(name));
            long connections = proxy.connections();
            proxy.delay(Direction.TO_CLIENT, Duration.ofSeconds(2));
            // Answers come all the time, each of them late.
            AtomicBoolean over = new AtomicBoolean();
            List<CompletableFuture<?>> others = new CopyOnWriteArrayList<>();
            CompletableFuture<Void> asking = CompletableFuture.runAsync(
                    () -> {
                        while (!over.get()) {
                            others.add(CompletableFuture.runAsync(
                                    () -> slow.store.view(name, TestClient.soon()), run -> new Thread(run).start()));
                            await().pollDelay(Duration.ofMillis(50)).until(() -> true);
                        }
                    },
                    run -> new Thread(run).start());
            await().until(() -> !others.isEmpty() && others.get(0).isDone());

            assertThatThrownBy(() -> slow.attempt(slow.ticket(name), in(Duration.ofSeconds(1))))
                    .isInstanceOf(UnknownOutcomeException.class);

            over.set(true);
            asking.join();
            others.forEach(CompletableFuture::join);
            assertThat(proxy.connections()).isEqualTo(connections);
        }
    }

    @Test
    void p7ARequestWhoseAnswerIsLostIsFoundAndWithdrawn() {
        // Not swept for so long: only who withdraws it removes it.
        Duration ttl = Duration.ofMinutes(5);
        two.release(two.grant(two.ticket(name, Demand.exclusive(), ttl)));
        TestTicket request = two.ticket(name, Demand.exclusive(), ttl);
        proxy.dropReplies();
        assertThatThrownBy(() -> two.attempt(request, in(Duration.ofMillis(800))))
                .isInstanceOf(UnknownOutcomeException.class);
        await().untilAsserted(() -> assertThat(keys()).hasSize(1));

        proxy.heal();
        // Of one that was made on a connection about to break nobody hears.
        await().ignoreExceptionsInstanceOf(LockException.class)
                .until(() -> two.withdraw(request) == Withdrawal.REMOVED || keys().isEmpty());
        assertThat(keys()).isEmpty();
    }

    @Test
    void p7ARequestThatArrivesLateIsSweptThoughNobodyAsksForIt() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            Duration ttl = Duration.ofSeconds(6);
            meddled.grant(meddled.ticket(name + "-warm", Demand.exclusive(), ttl));
            meddler.holdsUp = Meddler::bindsAKey;
            TestTicket late = meddled.ticket(name, Demand.exclusive(), ttl);
            assertThatThrownBy(() -> meddled.attempt(late, in(Duration.ofMillis(800))))
                    .isInstanceOf(UnknownOutcomeException.class);
            meddler.holdsUp = txn -> false;

            meddler.deletes = false;
            assertThat(meddler.deliver(meddler.heldUp.get(0))).isTrue();
            assertThat(one.attempt(name)).isFalse();
            meddler.deletes = true;

            // Nobody withdraws it; the session lives on, and still it goes.
            awaitNoKeys(Duration.ofSeconds(20));
        }
    }

    @Test
    void aRequestThatNeverArrivesIsNotLookedForForEver() {
        TestTicket kept = two.grant(two.ticket(name, Demand.exclusive(), SHORT));
        SessionProbe session = kept.session();
        proxy.swallow(Direction.TO_SERVER);
        assertThatThrownBy(() ->
                        two.attempt(two.ticket(name + "-other", Demand.exclusive(), SHORT), in(Duration.ofMillis(800))))
                .isInstanceOf(UnknownOutcomeException.class);
        assertThat(session.unwantedKeys()).isEqualTo(1);
        proxy.heal();

        await().atMost(Duration.ofSeconds(20)).until(() -> session.unwantedKeys() == 0);
        assertThat(session.isOver()).isFalse();
    }

    @Test
    void p3AReleaseWhoseAnswerIsLostMayBeRepeated() {
        TestTicket held = two.grant(name);
        proxy.dropReplies();
        assertThatThrownBy(() -> two.release(held, Duration.ZERO, in(Duration.ofMillis(800))))
                .isInstanceOf(UnknownOutcomeException.class);
        proxy.heal();
        TestTicket next = one.grant(name);

        await().ignoreExceptionsInstanceOf(LockException.class)
                .untilAsserted(() -> assertThat(two.release(held, Duration.ZERO, in(Duration.ofSeconds(1))))
                        .isEqualTo(ReleaseAnswer.NOT_HELD));
        assertThat(one.renew(next)).isEqualTo(Renewed.KEPT);
    }

    private void awaitNoKeys(Duration atMost) {
        await().atMost(atMost).until(() -> keys().isEmpty());
    }

    @Test
    void p7ALockOnALeaseOfItsOwnWhoseReleaseFailedDoesNotStayAsLongAsThatLease() {
        TestTicket held = two.grant(two.ticket(name, Demand.exclusive(), SHORT));
        assertThat(two.extend(held, Duration.ofMinutes(1), TestClient.soon())).isEqualTo(Renewed.KEPT);
        proxy.cut(Direction.TO_SERVER);
        assertThatThrownBy(() -> two.release(held, Duration.ZERO, in(Duration.ofMillis(200))))
                .isInstanceOf(LockException.class);
        proxy.resetConnections();
        proxy.heal();

        awaitNoKeys(Duration.ofSeconds(20));
    }

    @Test
    void p7AKeyThatMovedAfterItsLockWasGivenUpDoesNotStayAsLongAsItsNewLease() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            TestTicket held = meddled.grant(meddled.ticket(name, Demand.exclusive(), Duration.ofSeconds(4)));
            meddler.holdsUp = txn -> {
                if (Meddler.bindsAKey(txn)) {
                    held.ticket.end();
                    meddler.deletes = false;
                }
                return false;
            };

            meddled.extend(held, Duration.ofMinutes(1), TestClient.soon());

            awaitNoKeys(Duration.ofSeconds(20));
        }
    }

    @Test
    void p7AWaiterThatWasCutOffLeavesNoKeyOnALeaseOfTheUsersThatLivesOn() {
        String lease = etcdctl.newLease(SHORT);
        try (TestClient keeping = TestClient.of("etcd://127.0.0.1:" + server.port() + "?lease=" + lease);
                TestClient cutOff = TestClient.of("etcd://127.0.0.1:" + proxy.port() + "?timeout=1s&lease=" + lease)) {
            keeping.grant(keeping.ticket(name + "-kept", Demand.exclusive(), SHORT));
            one.grant(name);
            TestTicket waiter = cutOff.enqueue(cutOff.ticket(name, Demand.exclusive(), SHORT));
            assertThat(cutOff.renew(waiter)).isEqualTo(Renewed.KEPT);
            proxy.swallow(Direction.TO_SERVER);
            waiter.heardOfLoss();
            proxy.heal();

            await().atMost(Duration.ofSeconds(20)).until(() -> !leases().contains(lease));
            assertThat(etcdctl.run("lease", "list")).contains(lease);
        }
    }

    @Test
    void p7ClosingLeavesNothingInDoubtOnALeaseOfTheUsers() {
        String lease = etcdctl.newLease(Duration.ofMinutes(1));
        try (TestClient closing = TestClient.of("etcd://127.0.0.1:" + proxy.port() + "?timeout=1s&lease=" + lease)) {
            closing.release(closing.grant(name));
            proxy.dropReplies();
            assertThatThrownBy(() -> closing.attempt(closing.ticket(name), in(Duration.ofMillis(800))))
                    .isInstanceOf(UnknownOutcomeException.class);
            await().until(() -> keys().size() == 1);
            proxy.heal();
        }

        assertThat(keys()).isEmpty();
    }

    private TestTicket failedToReleaseWith(Duration linger) {
        TestTicket held = two.grant(two.ticket(name, Demand.exclusive(), Duration.ofSeconds(4)));
        proxy.cut();
        assertThatThrownBy(() -> two.release(held, linger, in(Duration.ofMillis(200))))
                .isInstanceOf(LockException.class);
        proxy.heal();
        return held;
    }

    @Test
    void aLockWhoseReleaseFailedLingersAllTheSame() {
        long before = System.nanoTime();
        Duration linger = SHORT.multipliedBy(3);
        TestTicket held = failedToReleaseWith(linger);

        one.grant(name);

        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(linger);
        assertThat(two.release(held, linger, in(SHORT))).isEqualTo(ReleaseAnswer.NOT_HELD);
    }

    @Test
    void aReleaseThatFailedMayBeRepeatedAndTheLockLingers() {
        TestTicket held = failedToReleaseWith(SHORT.multipliedBy(3));
        SessionProbe session = held.session();
        long swept = session.sweptNanos();
        await().until(() -> session.sweptNanos() != swept);

        assertThat(two.release(held, SHORT, in(SHORT))).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(one.attempt(name)).isFalse();
    }

    @Test
    void closingDoesNotFreeALockWhoseReleaseFailedAndWhichIsToLinger() {
        one.release(one.grant(name + "-one"));
        failedToReleaseWith(SHORT.multipliedBy(3));
        two.close();

        assertThat(one.attempt(name)).isFalse();
    }

    @Test
    void aRestartOfTheServerKeepsHoldersWaitersAndTokens() {
        try (EtcdServer durable = EtcdServer.start();
                TestClient three = TestClient.of("etcd://127.0.0.1:" + durable.port());
                TestClient four = TestClient.of("etcd://127.0.0.1:" + durable.port())) {
            TestTicket held = three.grant(name);
            TestTicket waiter = four.enqueue(name);
            durable.kill();
            durable.restart();
            await().ignoreExceptions()
                    .untilAsserted(() -> assertThat(three.renew(held)).isEqualTo(Renewed.KEPT));
            assertThat(waiter.isGranted()).isFalse();
            three.release(held);

            assertThat(waiter.arrived().token()).isGreaterThan(held.token());
        }
    }

    @Test
    void withoutSpaceNothingIsTakenButWhatIsHeldCanBeKeptAndReleased() {
        try (EtcdServer small = EtcdServer.builder()
                        .args("--quota-backend-bytes", "200000")
                        .start();
                TestClient three = TestClient.of("etcd://127.0.0.1:" + small.port());
                TestClient four = TestClient.of("etcd://127.0.0.1:" + small.port())) {
            Etcdctl ctl = new Etcdctl(small.endpoint());
            // Nobody renews them while the server is being filled.
            Duration whileFilling = Duration.ofMinutes(1);
            TestTicket held = three.grant(three.ticket(name, Demand.exclusive(), whileFilling));
            TestTicket waiter = four.enqueue(four.ticket(name, Demand.exclusive(), whileFilling));
            await().ignoreExceptions().until(() -> {
                try {
                    ctl.run("put", "filler-" + UUID.randomUUID(), "x".repeat(50_000));
                    return false;
                } catch (IllegalStateException full) {
                    return full.getMessage().contains("space exceeded");
                }
            });

            assertThatThrownBy(() -> three.grant(name + "-other"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("space exceeded");
            assertThat(ctl.keys("holdfast/" + name + "-other/")).isEmpty();
            assertThat(three.renew(held)).isEqualTo(Renewed.KEPT);
            assertThat(three.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
            waiter.arrived();
        }
    }

    @Test
    void aServerThatTakesSmallTransactionsOnlyIsServedWithSmallOnes() {
        try (EtcdServer strict =
                        EtcdServer.builder().args("--max-txn-ops", "16").start();
                TestClient three = TestClient.of("etcd://127.0.0.1:" + strict.port())) {
            List<TestTicket> held = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                held.add(three.grant(name + i));
            }
            int before = held.stream().mapToInt(each -> each.kept.get()).sum();

            three.store.renew(held.stream().map(each -> each.ticket).toList(), TestClient.soon());

            assertThat(held).allMatch(each -> each.failure.isEmpty() && !each.isLost());
            assertThat(held.stream().mapToInt(each -> each.kept.get()).sum()).isEqualTo(before + 50);
        }
    }
}
