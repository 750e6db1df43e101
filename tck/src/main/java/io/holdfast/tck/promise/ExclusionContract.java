package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.Acquirable;
import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.DistributedSemaphore;
import io.holdfast.Fairness;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.Waiting;
import io.holdfast.tck.Mortal;
import io.holdfast.tck.tap.StoreTap;
import io.holdfast.tck.tap.StoreTap.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** At most one valid lease at a time; several where the demand allows it, and no more than it allows. */
@Tag("core")
@DisplayName("P1 exclusion")
public abstract class ExclusionContract extends StoreContract {

    @Test
    void aHeldLockIsRefusedToOthersUntilItIsReleased() throws Exception {
        DistributedLock ours = client().lock(name());
        DistributedLock theirs = client().lock(name());

        Lease lease = ours.acquire();
        assertThat(theirs.tryAcquire()).isEmpty();
        assertThat(theirs.tryAcquire(briefly())).isEmpty();
        assertThat(ours.tryAcquire()).isEmpty();
        assertThat(lease.isValid()).isTrue();

        lease.release();
        assertThat(lease.isValid()).isFalse();
        assertThat(theirs.tryAcquire(patience())).isPresent();
    }

    @Test
    void aHeldLockStaysHeldBeyondItsTtl() throws Exception {
        DistributedLock theirs = client().lock(name(), renewed());

        try (Lease lease = client().lock(name(), renewed()).acquire()) {
            assertThat(theirs.tryAcquire(renewedTtl().multipliedBy(5).dividedBy(4)))
                    .isEmpty();
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void clientsContendingBalancedNeverOverlap() throws Exception {
        contend(longLived());
    }

    @Test
    void clientsContendingInStrictOrderNeverOverlap() throws Exception {
        assumeQueueing();
        contend(longLived().withFairness(Fairness.FIFO));
    }

    @Test
    void clientsContendingByPollingNeverOverlap() throws Exception {
        contend(longLived()
                .withFairness(Fairness.BARGING)
                .withWaiting(Waiting.poll().every(Duration.ofMillis(4)).withJitter(0.5)));
    }

    private void contend(LockOptions options) throws Exception {
        Beliefs beliefs = new Beliefs();
        int[] unguarded = new int[1];
        CountDownLatch start = new CountDownLatch(1);
        List<Future<Integer>> workers = new ArrayList<>();
        for (int c = 0; c < 3; c++) {
            DistributedLock lock = client().lock(name(), options);
            for (int t = 0; t < 3; t++) {
                workers.add(fork(() -> {
                    start.await();
                    for (int i = 0; i < 12; i++) {
                        try (Lease lease = lock.acquire()) {
                            beliefs.hold(Demand.exclusive(), lease, () -> incrementSlowly(unguarded));
                        }
                    }
                    return 12;
                }));
            }
        }
        start.countDown();
        int expected = 0;
        for (Future<Integer> worker : workers) {
            expected += get(worker);
        }

        beliefs.assertExclusionAndFencing();
        assertThat(unguarded[0]).as("increments under the lock").isEqualTo(expected);
        assertThat(beliefs.size()).isEqualTo(expected);
    }

    /** Not atomic, and slow enough that two at once would lose one. */
    private static void incrementSlowly(int[] counter) {
        int read = counter[0];
        workABit();
        counter[0] = read + 1;
    }

    private static void workABit() {
        StoreTap.pause(Duration.ofNanos(200_000));
    }

    @Test
    void readersShareAndWritersAreAlone() throws Exception {
        assumeSupports(Demand.shared());
        Beliefs beliefs = new Beliefs();
        CountDownLatch start = new CountDownLatch(1);
        List<Future<Integer>> workers = new ArrayList<>();
        for (int c = 0; c < 3; c++) {
            DistributedReadWriteLock lock = client().readWriteLock(name());
            for (int t = 0; t < 3; t++) {
                workers.add(fork(() -> {
                    start.await();
                    for (int i = 0; i < 12; i++) {
                        boolean write = ThreadLocalRandom.current().nextInt(3) == 0;
                        Demand demand = write ? Demand.exclusive() : Demand.shared();
                        try (Lease lease = (write ? lock.writeLock() : lock.readLock()).acquire()) {
                            beliefs.hold(demand, lease, ExclusionContract::workABit);
                        }
                    }
                    return 12;
                }));
            }
        }
        start.countDown();
        for (Future<Integer> worker : workers) {
            get(worker);
        }

        beliefs.assertExclusionAndFencing();
    }

    @Test
    void readersOfSeveralClientsHoldTogetherAndKeepAWriterOut() throws Exception {
        assumeSupports(Demand.shared());
        DistributedReadWriteLock ours = client().readWriteLock(name());
        DistributedReadWriteLock theirs = client().readWriteLock(name());

        Lease first = ours.readLock().acquire();
        Lease second = theirs.readLock().tryAcquire().orElseThrow();
        assertThat(theirs.writeLock().tryAcquire()).isEmpty();
        first.release();
        assertThat(ours.writeLock().tryAcquire()).isEmpty();
        second.release();

        Lease writer = ours.writeLock().acquire();
        assertThat(theirs.readLock().tryAcquire()).isEmpty();
        assertThat(theirs.writeLock().tryAcquire()).isEmpty();
        writer.release();
        assertThat(theirs.readLock().tryAcquire()).isPresent();
    }

    @Test
    void permitsNeverExceedTheTotal() throws Exception {
        assumeSupports(Demand.permits(1, 1));
        Beliefs beliefs = new Beliefs();
        CountDownLatch start = new CountDownLatch(1);
        List<Future<Integer>> workers = new ArrayList<>();
        for (int c = 0; c < 3; c++) {
            DistributedSemaphore semaphore = client().semaphore(name(), 4);
            for (int t = 0; t < 3; t++) {
                workers.add(fork(() -> {
                    start.await();
                    for (int i = 0; i < 10; i++) {
                        int count = ThreadLocalRandom.current().nextInt(1, 4);
                        try (Lease lease = semaphore.permits(count).acquire()) {
                            beliefs.hold(Demand.permits(count, 4), lease, ExclusionContract::workABit);
                        }
                    }
                    return 10;
                }));
            }
        }
        start.countDown();
        for (Future<Integer> worker : workers) {
            get(worker);
        }

        beliefs.assertExclusionAndFencing();
    }

    @Test
    void clientsThatNameDifferentTotalsKeepTheSmallest() throws Exception {
        assumeSupports(Demand.permits(1, 1));
        DistributedSemaphore large = client().semaphore(name(), 5);
        DistributedSemaphore small = client().semaphore(name(), 2);

        Lease one = large.acquire();
        Lease two = small.tryAcquire().orElseThrow();
        assertThat(large.tryAcquire())
                .as("a third beside one that allows two in all")
                .isEmpty();
        two.release();
        Lease three = large.permits(2).tryAcquire().orElseThrow();
        assertThat(small.tryAcquire()).as("one of two beside three taken").isEmpty();
        one.release();
        three.release();
    }

    @Test
    void kindsUsedOnOneNameExcludeEachOther() throws Exception {
        assumeSupports(Demand.shared());
        assumeSupports(Demand.permits(1, 1));
        Holdfast ours = client();
        Holdfast theirs = client();
        List<Acquirable<Lease>> kinds =
                List.of(theirs.lock(name()), theirs.readWriteLock(name()).readLock(), theirs.semaphore(name(), 3));

        for (int i = 0; i < kinds.size(); i++) {
            Acquirable<Lease> held = List.<Acquirable<Lease>>of(
                            ours.lock(name()), ours.readWriteLock(name()).readLock(), ours.semaphore(name(), 3))
                    .get(i);
            try (Lease lease = held.acquire()) {
                for (int k = 0; k < kinds.size(); k++) {
                    boolean sameAndShareable = i == k && i > 0;
                    assertThat(kinds.get(k).tryAcquire().map(Lease::release).isPresent())
                            .as("%s while %s is held", kinds.get(k), held)
                            .isEqualTo(sameAndShareable);
                }
            }
        }
    }

    @Test
    void severalLocksAreTakenAllOrNone() throws Exception {
        Holdfast ours = client();
        Holdfast theirs = client();
        String a = name("a");
        String b = name("b");

        Lease held = theirs.lock(b).acquire();
        assertThat(ours.lockAll(a, b).tryAcquire()).isEmpty();
        assertThat(ours.lockAll(b, a).tryAcquire(briefly())).isEmpty();
        awaitFree(a);
        held.release();

        try (var both = ours.lockAll(b, a).acquire()) {
            assertThat(both.isValid()).isTrue();
            assertThat(theirs.lock(a).tryAcquire()).isEmpty();
            assertThat(theirs.lock(b).tryAcquire()).isEmpty();
        }
        assertThat(theirs.lockAll(a, b).tryAcquire()).isPresent();
    }

    @Test
    void aLeaseCountsFromBeforeItsRequestWasSent() {
        Duration delay = Duration.ofMillis(400);
        StoreTap tap = tap();
        DistributedLock lock = client(tap).lock(name(), longLived());
        lock.tryAcquire().orElseThrow().release(); // connected: many delays would not fit into the time for a request
        delayReplies(tap, delay);

        try (Lease lease = lock.tryAcquire().orElseThrow()) {
            assertThat(lease.remaining()).isLessThanOrEqualTo(longTtl().minus(delay));
        }
    }

    @Test
    void anExtensionCountsFromBeforeItsRequestWasSent() {
        Duration delay = Duration.ofMillis(400);
        StoreTap tap = tap();
        DistributedLock lock = client(tap).lock(name(), longLived());

        try (Lease lease = lock.tryAcquire().orElseThrow()) {
            delayReplies(tap, delay);
            lease.extend(longTtl());
            assertThat(lease.remaining()).isLessThanOrEqualTo(longTtl().minus(delay));
        }
    }

    /** On the way to the server where that is possible, since the store itself takes the time; else above the store. */
    private void delayReplies(StoreTap tap, Duration delay) {
        if (subject().faults().isPresent()) {
            subject().faults().get().delayReplies(delay);
        } else {
            tap.on(Operation.TRY, StoreTap.delayReply(delay)).on(Operation.EXTEND, StoreTap.delayReply(delay));
        }
    }

    @Test
    void aPushedGrantCountsFromTheLastHeartbeatNotFromItsArrival() throws Exception {
        assumeQueueing();
        assumeTrue(subject().pushesGrants(), "waiters ask for their grant");
        Lease holder = client().lock(name(), longLived()).acquire();
        StoreTap tap = tap().on(Operation.RENEW, StoreTap.FAIL);
        DistributedLock lock = client(tap).lock(name(), longLived());
        Future<Lease> waiter = fork(lock::acquire);
        awaitWaiters(name(), 1);

        StoreTap.pause(Duration.ofMillis(400));
        holder.release();

        try (Lease lease = get(waiter)) {
            Duration sinceHeard = Duration.ofNanos(System.nanoTime() - tap.lastAnsweredNanos(Operation.QUEUE));
            assertThat(lease.remaining()).isLessThanOrEqualTo(longTtl().minus(sinceHeard));
        }
    }

    @Test
    void aHolderThatHearsNothingIsInvalidBeforeTheNextIsIn() throws Exception {
        Mortal mortal = mortal();
        Lease doomed = client(mortal).lock(name(), shortLived()).acquire();
        Future<Boolean> doomedStillValid = fork(() -> {
            try (Lease next = client().lock(name(), shortLived()).acquire()) {
                return doomed.isValid();
            }
        });

        mortal.die();

        assertThat(get(doomedStillValid)).isFalse();
        assertThat(doomed.remaining()).isZero();
    }
}
