package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Fairness;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.MultiLock;
import io.holdfast.Renewal;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.Waiting;
import io.holdfast.tck.tap.StoreTap;
import io.holdfast.tck.tap.StoreTap.Operation;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Options do what they say on every store, or are refused at once. */
@DisplayName("Options")
public abstract class OptionsContract extends StoreContract {

    @Test
    void askingOnceAsksOnce() {
        StoreTap tap = tap();
        DistributedLock lock = client(tap).lock(name(), longLived());

        lock.tryAcquire().orElseThrow().release();

        assertThat(tap.count(Operation.TRY)).isEqualTo(1);
        assertThat(tap.count(Operation.QUEUE)).isZero();
        assertThat(tap.count(Operation.RELEASE)).isEqualTo(1);
        assertThat(tap.count(Operation.WITHDRAW)).isZero();
    }

    @Test
    void aFixedLeaseEndsWithItsTtlThoughItsClientLives() throws Exception {
        StoreTap tap = tap();
        DistributedLock fixed = client(tap).lock(name(), shortLived().withRenewal(Renewal.NONE));
        Lease lease = fixed.tryAcquire().orElseThrow();

        try (Lease next = client().lock(name(), longLived()).acquire()) {
            assertThat(lease.isValid()).isFalse();
            assertThat(next.token()).isGreaterThan(lease.token());
        }
        assertThat(tap.count(Operation.RENEW)).isZero();
    }

    @Test
    void aFixedLeaseCanBeExtended() {
        DistributedLock fixed = client().lock(name(), renewed().withRenewal(Renewal.NONE));
        try (Lease lease = fixed.tryAcquire().orElseThrow()) {
            extendBeyondTtl(lease);

            StoreTap.pause(renewedTtl().multipliedBy(5).dividedBy(4));
            assertThat(lease.isValid()).isTrue();
            assertThat(client().lock(name()).tryAcquire()).isEmpty();
        }
    }

    @Test
    void aFixedLeaseThatWasWaitedForHasItsWholeTtl() throws Exception {
        assumeQueueing();
        Lease holder = client().lock(name(), longLived()).acquire();
        DistributedLock fixed = client().lock(name(), longLived().withRenewal(Renewal.NONE));
        Future<Lease> waiter = fork(fixed::acquire);
        awaitWaiters(name(), 1);
        StoreTap.pause(Duration.ofMillis(300));
        long released = System.nanoTime();
        holder.release();

        try (Lease lease = get(waiter)) {
            Duration remaining = lease.remaining();
            Duration sinceRelease = Duration.ofNanos(System.nanoTime() - released);
            Duration margin = longTtl().dividedBy(100).plusMillis(2);
            Duration largest = margin.compareTo(traits().minMargin()) > 0 ? margin : traits().minMargin();
            // A session's last sign of life may be a little older than the release, though not as old as the wait.
            Duration slack = largest.multipliedBy(2);
            assertThat(remaining).isGreaterThanOrEqualTo(longTtl().minus(slack).minus(sinceRelease));
        }
    }

    @Test
    void theLockStaysTakenForItsShortestHold() throws Exception {
        assumeLingers();
        Duration minHold = renewedTtl();
        DistributedLock other = client().lock(name(), longLived());
        assertThat(other.inspect().isHeld()).isFalse();
        long asked = System.nanoTime();
        Lease lease = client().lock(name(), renewed().withMinHold(minHold)).acquire();
        lease.release();
        assertThat(lease.isValid()).isFalse();

        assertThat(other.tryAcquire()).as("right after the release").isEmpty();
        other.acquire().release();

        assertThat(Duration.ofNanos(System.nanoTime() - asked)).isGreaterThanOrEqualTo(minHold);
    }

    @Test
    void theShortestHoldOutlivesItsClient() throws Exception {
        assumeLingers();
        Duration minHold = shortTtl().multipliedBy(2);
        LockOptions options = LockOptions.defaults().withTtl(minHold).withMinHold(minHold);
        long asked = System.nanoTime();
        try (Holdfast shortLivedClient = client()) {
            shortLivedClient.lock(name(), options).acquire().release();
        }

        client().lock(name(), longLived()).acquire().release();

        assertThat(Duration.ofNanos(System.nanoTime() - asked)).isGreaterThanOrEqualTo(minHold);
    }

    @Test
    void theShortestHoldMayBeLongerThanTheTtl() throws Exception {
        assumeLingers();
        Duration minHold = shortTtl().multipliedBy(3);
        DistributedLock job = client().lock(name(), shortLived().withMinHold(minHold));
        long asked = System.nanoTime();
        assertThat(job.tryRun(() -> {})).isTrue();

        client().lock(name(), longLived()).acquire().release();

        assertThat(Duration.ofNanos(System.nanoTime() - asked)).isGreaterThanOrEqualTo(minHold);
    }

    @Test
    void aLeaseHeldLongerThanItsShortestHoldIsFreeAtOnce() throws Exception {
        assumeLingers();
        LockOptions options = longLived().withMinHold(Duration.ofMillis(20));
        Lease lease = client().lock(name(), options).acquire();
        StoreTap.pause(Duration.ofMillis(40));

        lease.release();

        assertThat(client().lock(name()).tryAcquire()).isPresent();
    }

    @Test
    void theShortestHoldDoesNotCountForALockNobodyGot() throws Exception {
        assumeLingers();
        LockOptions options = longLived().withMinHold(longTtl());
        Holdfast other = client();
        try (Lease holder = other.lock(name("second"), longLived()).acquire()) {
            MultiLock both = client().lockAll(List.of(name("first"), name("second")), options);

            assertThat(both.tryAcquire()).isEmpty();

            assertThat(other.lock(name("first")).tryAcquire()).isPresent();
            assertThat(holder.isValid()).isTrue();
        }
    }

    @Test
    void pollingGetsALockThatComesFree() throws Exception {
        StoreTap tap = tap();
        Lease holder = client().lock(name(), longLived()).acquire();
        DistributedLock polling =
                client(tap).lock(name(), longLived().withWaiting(Waiting.poll().every(Duration.ofMillis(10))));
        Future<Lease> waiter = fork(polling::acquire);
        soon().until(() -> tap.count(Operation.TRY) >= 3);
        assertThat(waiter.isDone()).isFalse();

        holder.release();

        get(waiter).release();
        assertThat(tap.count(Operation.QUEUE)).isZero();
    }

    @Test
    void pollingEndsAfterItsTries() throws Exception {
        StoreTap tap = tap();
        DistributedLock polling = client(tap)
                .lock(
                        name(),
                        longLived()
                                .withWaiting(Waiting.poll()
                                        .every(Duration.ofMillis(5))
                                        .withTries(3)));
        try (Lease holder = client().lock(name(), longLived()).acquire()) {
            assertThat(polling.tryAcquire(patience())).isEmpty();
            assertThat(tap.count(Operation.TRY)).isEqualTo(3);
            assertThat(holder.isValid()).isTrue();
        }
    }

    @Test
    void aPollCutShortByTheCallersDeadlineIsARefusalAndUndone() throws Exception {
        StoreTap tap = tap();
        Duration maxWait = Duration.ofSeconds(2);
        AtomicInteger polls = new AtomicInteger();
        DistributedLock polling =
                client(tap).lock(name(), longLived().withWaiting(Waiting.poll().every(Duration.ofMillis(10))));
        try (Lease holder = client().lock(name(), longLived()).acquire()) {
            assertThat(polling.tryAcquire()).isEmpty();
            tap.on(Operation.TRY, call -> {
                Object refused = call.proceed();
                if (polls.incrementAndGet() == 1) {
                    return refused;
                }
                StoreTap.pause(maxWait);
                throw new UnknownOutcomeException(call.lockName(), "its reply was late");
            });

            assertThat(polling.tryAcquire(maxWait)).isEmpty();

            assertThat(polls).hasValue(2);
            soon().until(() -> tap.count(Operation.WITHDRAW) > 0);
            assertThat(holder.isValid()).isTrue();
        }
        awaitFree(name());
    }

    @Test
    void bargingNeverQueues() throws Exception {
        StoreTap tap = tap();
        Lease holder = client().lock(name(), longLived()).acquire();
        DistributedLock barging = client(tap).lock(name(), longLived().withFairness(Fairness.BARGING));
        CompletableFuture<Lease> waiter = barging.acquireAsync();
        soon().until(() -> tap.count(Operation.TRY) >= 2);
        assertThat(view(name()).waiters()).isEmpty();

        holder.release();

        get(waiter).release();
        assertThat(tap.count(Operation.QUEUE)).isZero();
    }

    @Test
    void aDowngradedWriterReadsOnWithNoWriterInBetween() throws Exception {
        assumeSupports(Demand.shared());
        assumeCan(io.holdfast.spi.DowngradingStore.class, "turn a write lease into a read lease");
        DistributedReadWriteLock ours = client().readWriteLock(name(), longLived());
        DistributedReadWriteLock theirs = client().readWriteLock(name(), longLived());
        Lease write = ours.writeLock().acquire();
        CompletableFuture<Lease> reader = theirs.readLock().acquireAsync();
        assertThat(theirs.writeLock().tryAcquire()).isEmpty();

        Lease read = ours.downgrade(write);

        assertThat(write.isValid()).isFalse();
        assertThat(read.isValid()).isTrue();
        Lease beside = get(reader);
        assertThat(theirs.writeLock().tryAcquire()).isEmpty();
        assertThatThrownBy(() -> ours.downgrade(read)).isInstanceOf(IllegalArgumentException.class);
        beside.release();
        read.release();
        assertThat(theirs.writeLock().tryAcquire(patience())).isPresent();
    }

    @Test
    void whatTheStoreCannotKeepIsRefusedWithTheReason() {
        Holdfast client = client();
        LockOptions tooShort = longLived().withTtl(traits().minTtl().minusNanos(1));
        LockOptions tooLong = longLived().withTtl(traits().maxTtl().plusSeconds(1));
        assertThatThrownBy(() -> client.lock(name(), tooShort)).isInstanceOf(UnsupportedLockException.class);
        assertThatThrownBy(() -> client.lock(name(), tooLong)).isInstanceOf(UnsupportedLockException.class);
        if (!traits().lingers()) {
            LockOptions minHold = longLived().withMinHold(Duration.ofMillis(10));
            assertThatThrownBy(() -> client.lock(name(), minHold)).isInstanceOf(UnsupportedLockException.class);
        }
        if (!traits().shared()) {
            assertThatThrownBy(() -> client.readWriteLock(name())).isInstanceOf(UnsupportedLockException.class);
        }
        if (!traits().permits()) {
            assertThatThrownBy(() -> client.semaphore(name(), 2)).isInstanceOf(UnsupportedLockException.class);
        }
        if (!traits().queues()) {
            LockOptions queued = longLived().withWaiting(Waiting.queue());
            LockOptions inOrder = longLived().withFairness(Fairness.FIFO);
            assertThatThrownBy(() -> client.lock(name(), queued)).isInstanceOf(UnsupportedLockException.class);
            assertThatThrownBy(() -> client.lock(name(), inOrder)).isInstanceOf(UnsupportedLockException.class);
        }
    }
}
