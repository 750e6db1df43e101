package io.holdfast;

import java.time.Duration;

/** Something that happened to a lock in this client; metrics and logs are built on these. */
public sealed interface LockEvent {

    /** The lock. */
    String name();

    /** An acquisition began. */
    record Requested(String name, Demand demand) implements LockEvent {}

    /** An acquisition ended without a lease: taken, timed out, cancelled, interrupted or failed. */
    record Unsuccessful(String name, String why, Duration waited) implements LockEvent {}

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
