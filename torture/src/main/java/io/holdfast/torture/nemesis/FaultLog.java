package io.holdfast.torture.nemesis;

/** Hears what the nemesis does, when it does it. Thread-safe. */
public interface FaultLog {

    /** @param nanos just before it was begun, in {@link System#nanoTime} terms */
    void began(PlannedFault fault, String target, long nanos);

    void healed(PlannedFault fault, String target);

    /** It could not be done, or not be ended. */
    void failed(PlannedFault fault, String why);
}
