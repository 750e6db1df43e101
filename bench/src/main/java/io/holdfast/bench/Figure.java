package io.holdfast.bench;

import java.util.Locale;

/** What is measured. Times are in microseconds. */
public enum Figure {
    /** Acquisitions per second, of all threads together. */
    RATE,
    /** From asking to having. */
    MEAN,
    P50,
    P70,
    P90,
    P99,
    MAX,
    /** From asking to having given back. */
    CYCLE_P50,
    CYCLE_MEAN,
    /** As {@link #MAX}, and those who had waited longer when the run ended count too. */
    LONGEST_WAIT,
    /** Acquisitions of the thread that got most, and of the one that got least. */
    MOST_PER_THREAD,
    LEAST_PER_THREAD,
    /** Threads that never got the lock. */
    STARVED_THREADS,
    /** What the JVM that got least got, as a share of an equal share. */
    LEAST_JVM_SHARE,
    /** How many acquisitions were by the thread that had just had the lock. */
    AGAIN_SHARE,
    /** CPU time per acquisition. */
    CLIENT_CPU,
    SERVER_CPU,
    /** What the server counts as commands, per acquisition. */
    COMMANDS,
    /** Of {@link Scenario#HELD}: threads that were added, heap per lease, share of a core, commands per second. */
    ADDED_THREADS,
    HEAP_PER_LEASE,
    CLIENT_CORE_SHARE,
    SERVER_CORE_SHARE,
    COMMANDS_PER_SECOND;

    /** In files. */
    public String key() {
        StringBuilder key = new StringBuilder();
        for (String word : name().toLowerCase(Locale.ROOT).split("_")) {
            key.append(key.isEmpty() ? word : word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1));
        }
        return key.toString();
    }
}
