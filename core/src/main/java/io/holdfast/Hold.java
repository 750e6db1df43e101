package io.holdfast;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * One lock or several, held until released, lost or expired.
 *
 * <p>Thread-safe; may be released by another thread than the one that acquired it. {@link #isValid} turns false by
 * itself when the lease can no longer be proven, whether or not the store can be reached.
 */
public interface Hold extends AutoCloseable {

    /** Whether nobody else can hold the lock now. Costs no trip to the store. */
    boolean isValid();

    /** Throws {@link LeaseLostException} unless {@link #isValid}. */
    void requireValid();

    /** How long this stays valid even if the store is never reached again; zero once it is not valid. */
    Duration remaining();

    /**
     * Calls back once if this is lost, at once if it already was, never if it was released. Runs on the client's
     * callback executor.
     */
    void onLost(Consumer<Loss> callback);

    /** As {@link #onLost(Consumer)}, on that executor whatever the client's does; if that refuses, as without it. */
    void onLost(Consumer<Loss> callback, Executor executor);

    /**
     * Makes this valid for at least {@code atLeast} from now, and returns for how long it is. Never shortens it. Of several
     * locks: all of them, or the exception names the first that could not be extended; those before it are.
     *
     * @throws LeaseLostException if it is lost already
     * @throws UnknownOutcomeException if the store did not answer; the lease is then valid as long as before
     */
    Duration extend(Duration atLeast);

    /**
     * Gives the lock back. Further calls return the first one's result, or PENDING while that is under way. Does not
     * react to interrupts.
     */
    ReleaseResult release();

    /**
     * {@link #release} without waiting for the store, for threads that must not block. This is not valid any more when the call
     * returns; the future tells how the store answered.
     */
    CompletableFuture<ReleaseResult> releaseAsync();

    /** {@link #release}; keeps the interrupt flag. */
    @Override
    default void close() {
        release();
    }
}
