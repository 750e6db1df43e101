package io.holdfast;

import java.time.Duration;
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

    /**
     * Gives the lock back. Further calls return the first one's result, or PENDING while that is under way. Does not
     * react to interrupts.
     */
    ReleaseResult release();

    /** {@link #release}; keeps the interrupt flag. */
    @Override
    default void close() {
        release();
    }
}
