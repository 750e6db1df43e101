package io.holdfast.spi;

import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent.Outcome;
import io.holdfast.LockStatistics.StoreOperation;
import io.holdfast.Loss;
import io.holdfast.ReleaseResult;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Sees what a client does, as it does it: metrics and traces are built on this.
 *
 * <p>Called on the thread that acquires or releases, at a loss on a thread for callbacks, and at requests on whatever thread
 * sends them. So it returns at once, does no I/O and uses no lock of the client; what it throws is logged and forgotten.
 * As threads differ, a renewal that was answered or failed beside the end of its lease may be told after that end.
 * {@link io.holdfast.LockListener} is called off these threads instead, in order, and may lose events if it is slow.
 */
public interface LockObserver {

    /**
     * One way to a lease.
     *
     * @param id unlike that of any other acquisition of this client
     * @param lock the lock
     * @param demand how it is to be held
     */
    record Acquisition(long id, String lock, Demand demand) {}

    /** How a lease was got. */
    enum Way {
        /** The store granted it. */
        GRANTED,
        /** Another thread of this client handed it on. */
        HANDED_OVER
    }

    /** The client is there; called once, before anything else. One that observes several clients is told of each. */
    default void connected(Holdfast client) {}

    /** The client has been closed; a loss may still be told after this. */
    default void closed(Holdfast client) {}

    default void started(Acquisition acquisition) {}

    default void acquired(Acquisition acquisition, Way way, long token, Duration waited) {}

    /** It ended without a lease. */
    default void unsuccessful(Acquisition acquisition, Outcome outcome, Duration waited) {}

    default void released(Acquisition acquisition, long token, ReleaseResult result, Duration held) {}

    default void lost(Acquisition acquisition, Loss loss, Duration held) {}

    /** A lease was renewed. */
    default void renewed(Acquisition acquisition) {}

    default void renewalFailed(Acquisition acquisition, Duration stillValidFor, Throwable cause) {}

    /**
     * A request to the store is over.
     *
     * @param failure what it threw, or null if it was answered
     */
    default void requested(StoreOperation operation, Duration took, @Nullable Throwable failure) {}
}
