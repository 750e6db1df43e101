package io.holdfast;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Something that is acquired before work and released after it.
 *
 * <p>Waiting calls honour interrupts, and a call that ends without a lease, for whatever reason, leaves nothing held
 * and no place in a queue. Futures complete on the client's own threads; cancelling one, or completing it in another
 * way, leaves the queue.
 *
 * @param <H> what an acquisition returns
 */
public interface Acquirable<H extends Hold> {

    /** Waits its turn. */
    H acquire() throws InterruptedException;

    /** Asks once and never waits for the lock; empty if it is taken. */
    Optional<H> tryAcquire();

    /**
     * Waits its turn, but no longer than {@code maxWait}, which covers every trip to the store too. Zero or less asks once, as
     * {@link #tryAcquire()}.
     */
    Optional<H> tryAcquire(Duration maxWait) throws InterruptedException;

    /** {@link #acquire()} without a waiting thread. */
    CompletableFuture<H> acquireAsync();

    /** {@link #tryAcquire()} without a waiting thread. */
    CompletableFuture<Optional<H>> tryAcquireAsync();

    /** {@link #tryAcquire(Duration)} without a waiting thread. */
    CompletableFuture<Optional<H>> tryAcquireAsync(Duration maxWait);

    /** Acquires, runs, releases. @see #run(LeaseWork) */
    default void run(Runnable work) throws InterruptedException {
        WorkUnderLock.run(acquire(), lease -> work.run());
    }

    /**
     * Acquires, runs the work with the lease, releases.
     *
     * @throws X what the work throws
     * @throws LeaseLostException if the work went well but the lease was lost meanwhile, so that others may have held the lock
     */
    default <X extends Exception> void run(LeaseWork<? super H, X> work) throws InterruptedException, X {
        WorkUnderLock.run(acquire(), work);
    }

    /** Acquires, calls, releases, returns. @see #run(LeaseWork) */
    default <T> T call(Callable<T> work) throws Exception {
        return WorkUnderLock.<H, T, Exception>call(acquire(), lease -> work.call());
    }

    /** Acquires, calls the work with the lease, releases, returns its result. Exceptions as for {@link #run(LeaseWork)}. */
    default <T, X extends Exception> T call(LeaseCall<? super H, T, X> work) throws InterruptedException, X {
        return WorkUnderLock.call(acquire(), work);
    }

    /** As {@link #run(Runnable)}, if the lock can be had at once. False if it was taken, and nothing was run. */
    default boolean tryRun(Runnable work) {
        return runIfPresent(tryAcquire(), lease -> work.run());
    }

    /** As {@link #run(LeaseWork)}, if the lock can be had at once. False if it was taken, and nothing was run. */
    default <X extends Exception> boolean tryRun(LeaseWork<? super H, X> work) throws X {
        return runIfPresent(tryAcquire(), work);
    }

    /** As {@link #run(Runnable)}, if the lock can be had within that time. */
    default boolean tryRun(Duration maxWait, Runnable work) throws InterruptedException {
        return runIfPresent(tryAcquire(maxWait), lease -> work.run());
    }

    /** As {@link #run(LeaseWork)}, if the lock can be had within that time. */
    default <X extends Exception> boolean tryRun(Duration maxWait, LeaseWork<? super H, X> work)
            throws InterruptedException, X {
        return runIfPresent(tryAcquire(maxWait), work);
    }

    private <X extends Exception> boolean runIfPresent(Optional<H> hold, LeaseWork<? super H, X> work) throws X {
        if (hold.isPresent()) {
            WorkUnderLock.run(hold.get(), work);
        }
        return hold.isPresent();
    }

    /**
     * As {@link #call(LeaseCall)}, if the lock can be had at once; empty if it was taken.
     *
     * @throws NullPointerException if the work returns null, which could not be told from a taken lock
     */
    default <T, X extends Exception> Optional<T> tryCall(LeaseCall<? super H, T, X> work) throws X {
        return callIfPresent(tryAcquire(), work);
    }

    /** As {@link #tryCall(LeaseCall)}, if the lock can be had within that time. */
    default <T, X extends Exception> Optional<T> tryCall(Duration maxWait, LeaseCall<? super H, T, X> work)
            throws InterruptedException, X {
        return callIfPresent(tryAcquire(maxWait), work);
    }

    private <T, X extends Exception> Optional<T> callIfPresent(Optional<H> hold, LeaseCall<? super H, T, X> work)
            throws X {
        return hold.isEmpty()
                ? Optional.empty()
                : Optional.of(Objects.requireNonNull(
                        WorkUnderLock.call(hold.get(), work), "the work of tryCall must not return null"));
    }

    /**
     * Acquires, starts the work, and releases when its stage has completed; all without a waiting thread. Cancelling the future
     * leaves the queue, or cancels the work's stage. Failures as for {@link #run(LeaseWork)}.
     */
    default <T> CompletableFuture<T> callAsync(Function<? super H, ? extends CompletionStage<T>> work) {
        return AsyncWork.start(acquireAsync(), work);
    }
}
