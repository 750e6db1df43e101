package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.etcd.TestClient.Waiter;
import io.holdfast.etcd.internal.wire.LeaseKeepAliveResponse;
import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.EtcdServer;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
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

    private static String leaseOf(Object handle) {
        return Long.toHexString(
                ((Place) Objects.requireNonNull(handle)).session().lease());
    }

    private static Deadline in(Duration time) {
        return Deadline.after(TimeSource.system(), time);
    }

    private static boolean isOlderThan(Grant grant, Duration age) {
        return System.nanoTime() - grant.baseNanos() > age.toNanos();
    }

    private void compact() {
        String json = etcdctl.run("get", "-w", "json", "nothing");
        String revision = json.replaceAll("(?s).*\"revision\":(\\d+).*", "$1");
        etcdctl.run("compact", revision);
    }

    @Test
    void compactionDuringAWaitHurtsNobody() {
        Grant held = one.grant(name);
        Waiter waiter = two.enqueue(name);
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
            Grant held = slow.grant(slow.request(name, Demand.exclusive(), ttl));
            // Two round trips: the key is read in time, and the answer comes when the place has been given up, which a
            // round that waits for an answer itself notices up to a third of the ttl late.
            await().until(() -> isOlderThan(held, ttl.dividedBy(2)));
            proxy.delay(Direction.TO_CLIENT, ttl.multipliedBy(21).dividedBy(50));

            assertThat(slow.renew(held)).isInstanceOf(RenewalAnswer.Gone.class);

            assertThat(slow.losses).containsKey(held.request().owner());
            proxy.heal();
            one.release(one.grant(name));
        }
    }

    @Test
    void aRequestOfUnknownOutcomeCostsNobodyALockBeforeItsTime() {
        Duration ttl = Duration.ofSeconds(3);
        Grant held = two.grant(two.request(name, Demand.exclusive(), ttl));
        // Later than the last sweep, as renewals are.
        await().until(() -> isOlderThan(held, ttl.dividedBy(2)));
        assertThat(two.renew(held)).isInstanceOf(RenewalAnswer.Extended.class);
        proxy.cut();
        assertThatThrownBy(() -> two.attempt(two.request(name + "-other", Demand.exclusive(), ttl)))
                .isInstanceOf(UnknownOutcomeException.class);

        await().atMost(Duration.ofSeconds(20))
                .until(() -> two.losses.containsKey(held.request().owner()));

        assertThat(two.losses).containsEntry(held.request().owner(), LossReason.EXPIRED);
    }

    @Test
    void aLeaseIsExtendedNoMoreWhileALostRequestCannotBeClearedAwayAndAgainWhenItCan() {
        try (Meddler meddler = new Meddler(proxy.port());
                TestClient meddled = meddler.client()) {
            Grant held = meddled.grant(meddled.request(name, Demand.exclusive(), SHORT));
            meddler.listsKeys = false;
            proxy.dropReplies();
            assertThatThrownBy(() -> meddled.store.attempt(
                            meddled.request(name + "-other", Demand.exclusive(), SHORT), in(Duration.ofMillis(200))))
                    .isInstanceOf(UnknownOutcomeException.class);
            proxy.heal();
            proxy.resetConnections();

            await().until(() -> meddled.renew(held), RenewalAnswer.Extended.class::isInstance);
            await().until(() -> meddled.renew(held).toString(), answer -> answer.contains("cleared away first"));
            meddler.listsKeys = true;

            await().until(() -> meddled.renew(held), RenewalAnswer.Extended.class::isInstance);
            assertThat(meddled.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
        }
    }

    @Test
    void aReleaseWhileTheWatchStreamIsBrokenIsNotMissed() {
        Grant held = one.grant(name);
        Waiter waiter = two.enqueue(name);
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
            Grant held = one.grant(name);
            Waiter waiter = meddled.enqueue(name);
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
            Grant grant = meddled.grant(name);
            meddler.keepAlives = kept -> kept.toBuilder()
                    .setHeader(kept.getHeader().toBuilder()
                            .setRaftTerm(kept.getHeader().getRaftTerm() - 1))
                    .build();
            assertThat(meddled.renew(grant)).isInstanceOf(RenewalAnswer.Unsettled.class);

            meddler.keepAlives = kept -> kept;
            assertThat(meddled.renew(grant)).isInstanceOf(RenewalAnswer.Extended.class);
        }
    }

    @Test
    void whoAsksWhileNothingCanBeExtendedIsRefusedAndCostsNobodyHisLease() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            Duration ttl = Duration.ofSeconds(6);
            Grant held = meddled.grant(meddled.request(name, Demand.exclusive(), ttl));
            meddler.keepAlives = kept -> kept.toBuilder()
                    .setHeader(kept.getHeader().toBuilder()
                            .setRaftTerm(kept.getHeader().getRaftTerm() - 1))
                    .build();
            Session session = ((Place) Objects.requireNonNull(held.handle())).session();
            await().until(() -> System.nanoTime() - session.baseNanos() > ttl.toNanos() / 2);

            assertThatThrownBy(() -> meddled.attempt(meddled.request(name + "-other", Demand.exclusive(), ttl)))
                    .isInstanceOf(StoreUnavailableException.class);
            meddler.keepAlives = kept -> kept;
            assertThat(meddled.renew(held)).isInstanceOf(RenewalAnswer.Extended.class);
            assertThat(meddled.losses).isEmpty();
        }
    }

    @Test
    void aLeaderThatDoesNotKnowALeaseYetIsNotBelieved() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            Grant grant = meddled.grant(name);
            meddler.keepAlives =
                    kept -> LeaseKeepAliveResponse.newBuilder(kept).setTtl(0).build();
            assertThat(meddled.renew(grant)).isInstanceOf(RenewalAnswer.Unsettled.class);

            meddler.keepAlives = kept -> kept;
            assertThat(meddled.renew(grant)).isInstanceOf(RenewalAnswer.Extended.class);
        }
    }

    @Test
    void p5ALeaseRevokedFromOutsideFailsHoldersAndWaitersAtOnce() {
        // No renewal or heartbeat is due for so long: only a watch can tell.
        Duration ttl = Duration.ofMinutes(5);
        Grant foreign = one.grant(one.request(name, Demand.exclusive(), ttl));
        Waiter waiter = two.enqueue(two.request(name, Demand.exclusive(), ttl));
        Grant held = two.grant(two.request(name + "-held", Demand.exclusive(), ttl));

        etcdctl.run("lease", "revoke", leaseOf(held.handle()));
        waiter.heardOfLoss();
        await().untilAsserted(() ->
                assertThat(two.losses).containsEntry(held.request().owner(), LossReason.GONE));
        assertThat(two.renew(held)).isInstanceOf(RenewalAnswer.Gone.class);

        one.release(foreign);
        Grant again = two.grant(name);
        assertThat(again.token()).isGreaterThan(foreign.token());
        assertThat(waiter.isGranted()).isFalse();
    }

    @Test
    void p5AForcedReleaseBeforeTheWatchIsOpenIsToldAsSoonAsItIs() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            meddler.delayWatches();
            Grant held = meddled.grant(meddled.request(name, Demand.exclusive(), Duration.ofMinutes(5)));
            assertThat(one.store.forceRelease(name, TestClient.soon())).isEqualTo(1);
            meddler.openWatches();

            await().until(() -> meddled.losses.containsKey(held.request().owner()));
        }
    }

    @Test
    void p1RevokingALeaseGrantsNothingToWaitersOfTheSameSession() {
        Grant held = one.grant(name);
        Waiter waiter = one.enqueue(name);

        etcdctl.run("lease", "revoke", leaseOf(held.handle()));
        waiter.heardOfLoss();
        assertThat(waiter.isGranted()).isFalse();
        assertThat(keys()).isEmpty();
    }

    @Test
    void keysDeletedFromOutsideAreFoundOutByTheNextRenewal() {
        one.grant(name);
        Waiter waiter = two.enqueue(name);
        etcdctl.run("del", "--prefix", "holdfast/" + name + "/");

        // It may take it for its turn; the next renewal knows better.
        await().until(() -> waiter.grant.isDone() || waiter.loss.isDone());
        assertThat(two.renew(waiter.ticket)).isInstanceOf(RenewalAnswer.Gone.class);
    }

    @Test
    void p1NobodyIsGrantedALeaseThatExpiredDuringTheWait() {
        Grant held = one.grant(name);
        Waiter waiter = two.enqueue(two.request(name, Demand.exclusive(), SHORT));
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
        proxy.heal();

        assertThat(two.attempt(name)).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void aDeadlineIsKeptWhenTheServerIsSilent() {
        two.release(two.grant(name));
        proxy.cut();
        long before = System.nanoTime();
        assertThatThrownBy(() -> two.store.attempt(two.request(name), in(Duration.ofMillis(200))))
                .isInstanceOf(UnknownOutcomeException.class);

        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void p7ARequestWhoseAnswerIsLostIsFoundAndWithdrawn() {
        // Not swept for so long: only who withdraws it removes it.
        Duration ttl = Duration.ofMinutes(5);
        two.release(two.grant(two.request(name, Demand.exclusive(), ttl)));
        Request request = two.request(name, Demand.exclusive(), ttl);
        proxy.dropReplies();
        assertThatThrownBy(() -> two.store.attempt(request, in(Duration.ofMillis(300))))
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
            // Swept every two seconds: time for another to see what is to be swept.
            Duration ttl = Duration.ofSeconds(6);
            one.release(one.grant(name + "-one"));
            meddled.grant(meddled.request(name + "-warm", Demand.exclusive(), ttl));
            meddler.holdsUp = Meddler::bindsAKey;
            Request late = meddled.request(name, Demand.exclusive(), ttl);
            assertThatThrownBy(() -> meddled.store.attempt(late, in(Duration.ofMillis(300))))
                    .isInstanceOf(UnknownOutcomeException.class);
            meddler.holdsUp = txn -> false;

            assertThat(meddler.deliver(meddler.heldUp.get(0))).isTrue();
            assertThat(one.attempt(name)).isInstanceOf(Answer.Refused.class);

            // Nobody withdraws it; the session lives on, and still it goes.
            awaitNoKeys(Duration.ofSeconds(20));
        }
    }

    @Test
    void aRequestThatNeverArrivesIsNotLookedForForEver() {
        Grant kept = two.grant(two.request(name, Demand.exclusive(), SHORT));
        Session session = ((Place) Objects.requireNonNull(kept.handle())).session();
        proxy.swallow(Direction.TO_SERVER);
        assertThatThrownBy(() -> two.store.attempt(
                        two.request(name + "-other", Demand.exclusive(), SHORT), in(Duration.ofMillis(300))))
                .isInstanceOf(UnknownOutcomeException.class);
        assertThat(session.doubts()).hasSize(1);
        proxy.heal();

        await().atMost(Duration.ofSeconds(20)).until(() -> session.doubts().isEmpty());
        assertThat(session.isOver()).isFalse();
    }

    @Test
    void p3AReleaseWhoseAnswerIsLostMayBeRepeated() {
        Grant held = two.grant(name);
        proxy.dropReplies();
        assertThatThrownBy(() -> two.store.release(held, Duration.ZERO, in(Duration.ofMillis(300))))
                .isInstanceOf(UnknownOutcomeException.class);
        proxy.heal();
        Grant next = one.grant(name);

        await().ignoreExceptionsInstanceOf(LockException.class)
                .untilAsserted(() -> assertThat(two.store.release(held, Duration.ZERO, in(Duration.ofSeconds(1))))
                        .isEqualTo(ReleaseAnswer.NOT_HELD));
        assertThat(one.renew(next)).isInstanceOf(RenewalAnswer.Extended.class);
    }

    private RenewalAnswer extend(TestClient client, Grant grant, Duration ttl) {
        return client.store
                .renew(List.of(new RenewalRequest(grant, ttl)), TestClient.soon())
                .get(0);
    }

    private void awaitNoKeys(Duration atMost) {
        await().atMost(atMost).until(() -> keys().isEmpty());
    }

    @Test
    void p7ALockOnALeaseOfItsOwnWhoseReleaseFailedDoesNotStayAsLongAsThatLease() {
        Grant held = two.grant(two.request(name, Demand.exclusive(), SHORT));
        assertThat(extend(two, held, Duration.ofMinutes(1))).isInstanceOf(RenewalAnswer.Extended.class);
        proxy.cut(Direction.TO_SERVER);
        assertThatThrownBy(() -> two.store.release(held, Duration.ZERO, in(Duration.ofMillis(200))))
                .isInstanceOf(LockException.class);
        proxy.resetConnections();
        proxy.heal();

        awaitNoKeys(Duration.ofSeconds(20));
    }

    @Test
    void p7AKeyThatMovedAfterItsLockWasGivenUpDoesNotStayAsLongAsItsNewLease() {
        try (Meddler meddler = new Meddler(server.port());
                TestClient meddled = meddler.client()) {
            Grant held = meddled.grant(name);
            meddler.holdsUp = txn -> {
                if (Meddler.bindsAKey(txn)) {
                    ((Place) Objects.requireNonNull(held.handle())).end();
                    meddler.deletes = false;
                }
                return false;
            };

            assertThat(extend(meddled, held, Duration.ofMinutes(1))).isInstanceOf(RenewalAnswer.Unsettled.class);

            awaitNoKeys(Duration.ofSeconds(20));
        }
    }

    @Test
    void p7AWaiterThatWasCutOffLeavesNoKeyOnALeaseOfTheUsersThatLivesOn() {
        String lease = etcdctl.newLease(SHORT);
        try (TestClient keeping = TestClient.of("etcd://127.0.0.1:" + server.port() + "?lease=" + lease);
                TestClient cutOff = TestClient.of("etcd://127.0.0.1:" + proxy.port() + "?timeout=1s&lease=" + lease)) {
            keeping.grant(keeping.request(name + "-kept", Demand.exclusive(), SHORT));
            one.grant(name);
            Waiter waiter = cutOff.enqueue(cutOff.request(name, Demand.exclusive(), SHORT));
            assertThat(cutOff.renew(waiter.ticket)).isInstanceOf(RenewalAnswer.Extended.class);
            proxy.swallow(Direction.TO_SERVER);
            waiter.heardOfLoss();
            proxy.heal();

            await().atMost(Duration.ofSeconds(20)).until(() -> keys().stream().noneMatch(key -> key.contains(lease)));
            assertThat(etcdctl.run("lease", "list")).contains(lease);
        }
    }

    @Test
    void p7ClosingLeavesNothingInDoubtOnALeaseOfTheUsers() {
        String lease = etcdctl.newLease(Duration.ofMinutes(1));
        try (TestClient closing = TestClient.of("etcd://127.0.0.1:" + proxy.port() + "?timeout=1s&lease=" + lease)) {
            closing.release(closing.grant(name));
            proxy.dropReplies();
            assertThatThrownBy(() -> closing.store.attempt(closing.request(name), in(Duration.ofMillis(300))))
                    .isInstanceOf(UnknownOutcomeException.class);
            await().until(() -> keys().size() == 1);
            proxy.heal();
        }

        assertThat(keys()).isEmpty();
    }

    private Grant failedToReleaseWith(Duration linger) {
        Grant held = two.grant(two.request(name, Demand.exclusive(), SHORT));
        proxy.cut();
        assertThatThrownBy(() -> two.store.release(held, linger, in(Duration.ofMillis(200))))
                .isInstanceOf(LockException.class);
        proxy.heal();
        return held;
    }

    @Test
    void aLockWhoseReleaseFailedLingersAllTheSame() {
        long before = System.nanoTime();
        Duration linger = SHORT.multipliedBy(3);
        Grant held = failedToReleaseWith(linger);

        one.grant(name);

        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(linger);
        assertThat(two.store.release(held, linger, in(SHORT))).isEqualTo(ReleaseAnswer.NOT_HELD);
    }

    @Test
    void aReleaseThatFailedMayBeRepeatedAndTheLockLingers() {
        Grant held = failedToReleaseWith(SHORT.multipliedBy(3));
        Session session = ((Place) Objects.requireNonNull(held.handle())).session();
        long swept = session.sweptNanos();
        await().until(() -> session.sweptNanos() != swept);

        assertThat(two.store.release(held, SHORT, in(SHORT))).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(one.attempt(name)).isInstanceOf(Answer.Refused.class);
    }

    @Test
    void closingDoesNotFreeALockWhoseReleaseFailedAndWhichIsToLinger() {
        one.release(one.grant(name + "-one"));
        failedToReleaseWith(SHORT.multipliedBy(3));
        two.close();

        assertThat(one.attempt(name)).isInstanceOf(Answer.Refused.class);
    }

    @Test
    void aRestartOfTheServerKeepsHoldersWaitersAndTokens() {
        try (EtcdServer durable = EtcdServer.start();
                TestClient three = TestClient.of("etcd://127.0.0.1:" + durable.port());
                TestClient four = TestClient.of("etcd://127.0.0.1:" + durable.port())) {
            Grant held = three.grant(name);
            Waiter waiter = four.enqueue(name);
            durable.kill();
            durable.restart();
            await().ignoreExceptions()
                    .untilAsserted(() -> assertThat(three.renew(held)).isInstanceOf(RenewalAnswer.Extended.class));
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
            Grant held = three.grant(three.request(name, Demand.exclusive(), whileFilling));
            Waiter waiter = four.enqueue(four.request(name, Demand.exclusive(), whileFilling));
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
            assertThat(three.renew(held)).isInstanceOf(RenewalAnswer.Extended.class);
            assertThat(three.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
            waiter.arrived();
        }
    }
}
