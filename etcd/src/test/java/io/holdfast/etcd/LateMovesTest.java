package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockException;
import io.holdfast.etcd.TestClient.Renewed;
import io.holdfast.etcd.internal.wire.RequestOp;
import io.holdfast.etcd.session.SessionProbe;
import io.holdfast.spi.ReleaseAnswer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A key's move to a lease of its own, with its answer missing")
class LateMovesTest extends MeddledTest {

    private static final Duration LONGER = Duration.ofSeconds(20);

    private TestTicket held;
    private long beforeTheMove;

    @BeforeEach
    void holdALockWhoseMoveIsOnItsWay() {
        held = client.grant(name);
        meddler.holdsUp = Meddler::bindsAKey;
        beforeTheMove = System.nanoTime();
        assertThat(extend(LONGER, Duration.ofMillis(1500))).isEqualTo(Renewed.FAILING);
        meddler.holdsUp = txn -> false;
        assertThat(meddler.heldUp).hasSize(1);
    }

    private Renewed extend(Duration ttl, Duration timeout) {
        return client.extend(held, ttl, TestClient.in(timeout));
    }

    private boolean arrives() {
        return meddler.deliver(meddler.heldUp.get(0));
    }

    @Test
    void isFollowedIfItWasMade() {
        assertThat(arrives()).isTrue();

        await().until(() -> client.renew(held), Renewed.KEPT::equals);
        assertThat(client.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
    }

    @Test
    void doesNotUndoALaterOne() {
        assertThat(extend(Duration.ofSeconds(30), Duration.ofSeconds(5))).isEqualTo(Renewed.KEPT);

        assertThat(arrives()).isFalse();
        assertThat(client.renew(held)).isEqualTo(Renewed.KEPT);
    }

    @Test
    void p1IsNotMadeAnyMoreOnceTheLeaseItHasIsCountedOn() {
        assertThat(client.renew(held)).isEqualTo(Renewed.KEPT);

        assertThat(arrives()).isFalse();
    }

    @Test
    void p1CountsNoRenewalOfTheLeaseTheKeyHadForTheOneItHas() {
        AtomicBoolean first = new AtomicBoolean(true);
        meddler.holdsUp = txn -> {
            boolean precludes = txn.getSuccessList().stream().anyMatch(RequestOp::hasRequestPut);
            if (precludes && first.getAndSet(false)) {
                // The move arrives between this renewal's look and its change, and another renewal follows it.
                assertThat(arrives()).isTrue();
                CompletableFuture.supplyAsync(() -> client.renew(held)).join();
            }
            return false;
        };

        client.renew(held);

        assertThat(first).isFalse();
        assertThat(held.ticket.endNanos() - beforeTheMove)
                .isLessThan(LONGER.plusSeconds(1).toNanos());
    }

    @Test
    void p9KeepsNoOtherLockWaitingForItsRenewal() {
        TestTicket another = client.grant(name + "-other");
        int before = another.kept.get();
        meddler.holdsUp = txn -> txn.getSuccessList().stream().anyMatch(RequestOp::hasRequestPut);

        CompletableFuture<Void> renewal = CompletableFuture.runAsync(
                () -> client.store.renew(List.of(held.ticket, another.ticket), TestClient.in(Duration.ofSeconds(3))));

        await().until(() -> another.kept.get() > before);
        assertThat(renewal).isNotDone();
    }

    @Test
    void p7DoesNotKeepALockTakenWhoseLeaseIsLost() {
        assertThat(arrives()).isTrue();

        etcdctl.run("lease", "revoke", held.session().leaseHex());

        await().until(() -> client.attempt(name));
    }

    /** The lease the key has gone to would keep the lock for as long as the extension asked for, which may be days. */
    @Test
    void p7GivesTheNewLeaseBackAgainIfThatFailedOnce() {
        assertThat(arrives()).isTrue();
        AtomicInteger refused = new AtomicInteger();
        meddler.breaks = method -> method.endsWith("/LeaseRevoke") && refused.getAndIncrement() < 2;

        etcdctl.run("lease", "revoke", held.session().leaseHex());

        await().atMost(LONGER.dividedBy(2)).until(() -> client.attempt(name));
        assertThat(refused).hasValueGreaterThan(2);
    }

    @Test
    void p7LeavesNothingBehindOfALockThatIsGivenUpWhileItIsFollowed() {
        assertThat(arrives()).isTrue();
        SessionProbe before = held.session();
        meddler.keepAlives = kept -> {
            meddler.keepAlives = UnaryOperator.identity();
            meddler.holdsUp = txn -> true;
            assertThatThrownBy(() -> client.release(held, Duration.ZERO, TestClient.in(Duration.ofMillis(200))))
                    .isInstanceOf(LockException.class);
            meddler.holdsUp = txn -> false;
            assertThat(before.unwantedKeys()).isEqualTo(1);
            return kept;
        };

        client.renew(held);

        assertThat(before.unwantedKeys()).isZero();
        await().until(() -> client.attempt(name));
    }
}
