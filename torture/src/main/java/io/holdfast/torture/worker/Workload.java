package io.holdfast.torture.worker;

import java.util.Locale;

/** How a worker thread uses its lock. */
public enum Workload {
    /** One holder at a time, who reads, lengthens and writes back a list. */
    EXCLUSIVE(2),
    /** The same under a read-write lock, mostly with readers. */
    SHARED(1),
    /** Some permits of a semaphore; there is no list, since holders coexist. */
    PERMITS(1);

    /** How many permits the semaphore has. */
    static final int PERMITS_IN_ALL = 3;

    private final int threads;

    Workload(int threads) {
        this.threads = threads;
    }

    /** How many threads of a worker do this; two on one lock hand it on among themselves. */
    int threads() {
        return threads;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Workload parse(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
