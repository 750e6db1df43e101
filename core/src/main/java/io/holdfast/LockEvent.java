package io.holdfast;

import java.time.Duration;

/** Something that happened to a lock in this client; metrics and logs are built on these. */
public sealed interface LockEvent {

    /** The lock. */
    String name();

    /** An acquisition began. */
    record Requested(String name, Demand demand) implements LockEvent {}

    /**
     * An acquisition ended without a lease.
     *
     * @param outcome how
     * @param detail the same for people
     */
    record Unsuccessful(String name, Outcome outcome, String detail, Duration waited) implements LockEvent {}

    /** How an acquisition ended without a lease. */
    enum Outcome {
        /** The lock was taken when it was asked for the last time. */
        TAKEN,
        /** The lock stayed taken for as long as the caller would wait. */
        TIMED_OUT,
        /** The caller cancelled its future, or completed it in another way. */
        CANCELLED,
        /** The waiting thread was interrupted. */
        INTERRUPTED,
        /** The client was closed. */
        CLOSED,
        /** The store could not be asked, or something went wrong. */
        FAILED
    }

    /** A lease was granted by the store. */
    record Granted(String name, long token, Duration waited) implements LockEvent {}

    /** A lease was handed over from another thread of this client, with no trip to the store. */
    record HandedOver(String name, long token, Duration waited) implements LockEvent {}

    /** A lease was renewed. */
    record Renewed(String name, long token, Duration validFor) implements LockEvent {}

    /** A renewal failed; the lease is still valid and the renewal is tried again. */
    record RenewalFailing(String name, long token, Duration stillValidFor, Throwable cause) implements LockEvent {}

    /** A lease was lost. */
    record Lost(String name, long token, Loss loss) implements LockEvent {}

    /** A lease was released. */
    record Released(String name, long token, ReleaseResult result, Duration held) implements LockEvent {}
}
