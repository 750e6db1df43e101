package io.holdfast;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/**
 * Something that is acquired before work and released after it.
 *
 * <p>Waiting calls honour interrupts, and a call that ends without a lease, for whatever reason, leaves nothing held
 * and no place in a queue. Futures complete on the client's executor; cancelling one, or completing it in another
 * way, leaves the queue.
 *
 * @param <H> what an acquisition returns
 */
public interface Acquirable<H extends Hold> {

    /** Waits its turn. */
    H acquire() throws InterruptedException;

    /** Asks once and never waits for the lock; empty if it is taken. */
    Optional<H> tryAcquire();

    /** Waits its turn, but no longer than {@code maxWait}, which covers every trip to the store too. */
    Optional<H> tryAcquire(Duration maxWait) throws InterruptedException;

    /** {@link #acquire()} without a waiting thread. */
    CompletableFuture<H> acquireAsync();

    /** {@link #tryAcquire(Duration)} without a waiting thread. */
    CompletableFuture<Optional<H>> tryAcquireAsync(Duration maxWait);

    /** Acquires, runs, releases. */
    default void run(Runnable work) throws InterruptedException {
        try (H hold = acquire()) {
            work.run();
        }
    }

    /** Acquires, calls, releases, returns. */
    default <T> T call(Callable<T> work) throws Exception {
        try (H hold = acquire()) {
            return work.call();
        }
    }
}
