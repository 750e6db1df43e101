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
import io.holdfast.tck.tap.StoreTap;
import io.holdfast.tck.tap.StoreTap.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tickets are served in order of arrival, and nobody is woken or asked in vain. */
@Tag("core")
@DisplayName("P6 order")
public abstract class OrderContract extends StoreContract {

    private LockOptions inOrder() {
        return longLived().withFairness(Fairness.FIFO);
    }

    @Test
    void ticketsAreServedInOrderOfArrival() throws Exception {
        assumeQueueing();
        DistributedLock ours = client().lock(name(), inOrder());
        DistributedLock theirs = client().lock(name(), inOrder());
        Lease holder = ours.acquire();
        List<CompletableFuture<Lease>> line = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            line.add(join(i % 2 == 0 ? ours : theirs, i + 1));
        }

        for (CompletableFuture<Lease> next : line) {
            holder.release();
            holder = get(next);
            assertThat(line.stream().filter(CompletableFuture::isDone).count())
                    .as("waiters served once this one is")
                    .isEqualTo(line.indexOf(next) + 1L);
        }
        holder.release();
    }

    @Test
    void aReleaseWakesOnlyTheOneItAdmits() throws Exception {
        assumeQueueing();
        StoreTap tap = tap();
        DistributedLock lock = client(tap).lock(name(), inOrder());
        Lease holder = lock.acquire();
        List<CompletableFuture<Lease>> line = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            line.add(join(lock, i + 1));
        }

        for (int i = 0; i < line.size(); i++) {
            assertThat(tap.pushes()).isEqualTo(i);
            holder.release();
            holder = get(line.get(i));
        }
        assertThat(tap.pushes()).isEqualTo(line.size());
        holder.release();
    }

    @Test
    void waitersHandTheLockOnWithoutAskingAgain() throws Exception {
        assumeQueueing();
        assertThat(requestsPerHandover(2)).isEqualTo(requestsPerHandover(16)).isEqualTo(2);
    }

    private int requestsPerHandover(int waiters) throws Exception {
        StoreTap tap = tap();
        String name = name("with-" + waiters);
        DistributedLock lock = client(tap).lock(name, inOrder());
        Lease holder = lock.acquire();
        List<CompletableFuture<Void>> line = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            line.add(lock.acquireAsync().thenAccept(Lease::release));
        }
        awaitWaiters(name, waiters);
        holder.release();
        for (CompletableFuture<Void> next : line) {
            get(next);
        }
        int asked = tap.count(Operation.TRY) + tap.count(Operation.QUEUE);
        assertThat(tap.count(Operation.WITHDRAW)).isZero();
        assertThat(asked).isEqualTo(waiters + 1);
        return (asked + tap.count(Operation.RELEASE)) / (waiters + 1);
    }

    @Test
    void theServersWorkPerAcquisitionDoesNotGrowWithTheNumberOfWaiters() throws Exception {
        assumeQueueing();
        assumeTrue(subject().requestsReceived().isPresent(), "requests the server receives are not counted");
        double withFew = Double.MAX_VALUE;
        double withMany = Double.MAX_VALUE;
        // The slower the machine, the more heartbeats fall on a handover: the best of each counts.
        int round = 0;
        do {
            withFew = Math.min(withFew, serverRequestsPerHandover(4, round));
            withMany = Math.min(withMany, serverRequestsPerHandover(32, round));
        } while (withMany > withFew * 1.5 + 1 && ++round < 3);

        assertThat(withMany).isLessThanOrEqualTo(withFew * 1.5 + 1);
    }

    /** Waiters that come as fast as others are served, so that the line keeps its length. */
    private double serverRequestsPerHandover(int waiters, int round) throws Exception {
        int rounds = 64;
        String name = name("line-of-" + waiters + "-" + round);
        DistributedLock lock = client().lock(name, inOrder());
        Lease holder = lock.acquire();
        List<CompletableFuture<Lease>> line = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            line.add(lock.acquireAsync());
        }
        awaitWaiters(name, waiters);
        long before = subject().requestsReceived().orElseThrow();
        for (int i = 0; i < rounds; i++) {
            holder.release();
            holder = get(CompletableFuture.anyOf(line.toArray(CompletableFuture<?>[]::new))
                    .thenApply(Lease.class::cast));
            line.removeIf(CompletableFuture::isDone);
            line.add(lock.acquireAsync());
        }
        long after = subject().requestsReceived().orElseThrow();
        line.forEach(waiter -> waiter.cancel(true));
        holder.release();
        return (double) (after - before) / rounds;
    }

    @Test
    void askingOnceNeverOvertakesTheLine() throws Exception {
        assumeQueueing();
        assumeSupports(Demand.shared());
        DistributedReadWriteLock lock = client().readWriteLock(name(), inOrder());
        Lease reader = lock.readLock().acquire();
        CompletableFuture<Lease> writer = join(lock.writeLock(), 1);

        assertThat(client().readWriteLock(name()).readLock().tryAcquire())
                .as("a reader behind a waiting writer")
                .isEmpty();

        reader.release();
        get(writer).release();
    }

    @Test
    void readersBehindAWriterComeAfterItAndTogether() throws Exception {
        assumeQueueing();
        assumeSupports(Demand.shared());
        DistributedReadWriteLock ours = client().readWriteLock(name(), inOrder());
        DistributedReadWriteLock theirs = client().readWriteLock(name(), inOrder());
        Lease first = ours.readLock().acquire();
        CompletableFuture<Lease> writer = join(theirs.writeLock(), 1);
        CompletableFuture<Lease> second = join(ours.readLock(), 2);
        CompletableFuture<Lease> third = join(theirs.readLock(), 3);
        CompletableFuture<Lease> lastWriter = join(ours.writeLock(), 4);

        first.release();
        Lease writing = get(writer);
        assertThat(second).isNotDone();
        assertThat(third).isNotDone();
        writing.release();
        Lease readingOne = get(second);
        Lease readingTwo = get(third);
        assertThat(lastWriter).isNotDone();
        readingOne.release();
        readingTwo.release();
        get(lastWriter).release();
    }

    @Test
    void aLargeDemandForPermitsIsNotOvertakenBySmallOnes() throws Exception {
        assumeQueueing();
        assumeSupports(Demand.permits(1, 3));
        DistributedSemaphore semaphore = client().semaphore(name(), 3, inOrder());
        Lease one = semaphore.acquire();
        CompletableFuture<Lease> all = join(semaphore.permits(3), 1);
        CompletableFuture<Lease> single = join(semaphore, 2);
        assertThat(client().semaphore(name(), 3).tryAcquire()).isEmpty();

        one.release();
        Lease large = get(all);
        assertThat(single).isNotDone();
        large.release();
        get(single).release();
    }

    @Test
    void aWaiterThatGivesUpLetsThoseBehindItMoveUp() throws Exception {
        assumeQueueing();
        assumeSupports(Demand.shared());
        Holdfast client = client();
        DistributedReadWriteLock lock = client.readWriteLock(name(), inOrder());
        Lease reader = lock.readLock().acquire();
        CompletableFuture<Lease> writer = join(lock.writeLock(), 1);
        CompletableFuture<Lease> second = join(lock.readLock(), 2);

        writer.cancel(true);

        Lease moved = get(second);
        assertThat(reader.isValid()).isTrue();
        reader.release();
        moved.release();
    }

    @Test
    void aWaiterIsWokenByTheReleaseNotByTheClock() throws Exception {
        assumeQueueing();
        LockOptions options = LockOptions.defaults().withTtl(veryLongTtl());
        Lease holder = client().lock(name(), options).acquire();
        CompletableFuture<Lease> waiter = join(client().lock(name(), options), 1);
        long released = System.nanoTime();
        holder.release();

        get(waiter).release();

        assertThat(Duration.ofNanos(System.nanoTime() - released))
                .as("sooner than any heartbeat")
                .isLessThan(veryLongTtl().dividedBy(3));
    }

    /** Starts to wait and returns once the store has the ticket, so that the order is known. */
    private CompletableFuture<Lease> join(Acquirable<Lease> lock, int waitersThen) {
        CompletableFuture<Lease> waiter = lock.acquireAsync();
        awaitWaiters(name(), waitersThen);
        return waiter;
    }
}
