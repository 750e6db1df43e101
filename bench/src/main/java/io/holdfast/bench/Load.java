package io.holdfast.bench;

import java.time.Duration;

/**
 * What a run does: so many threads in so many JVMs take and return locks as fast as they get them.
 *
 * @param jvms worker processes
 * @param threads in all of them together
 * @param locks thread n uses lock n modulo this
 * @param section how long a lock is held
 */
public record Load(int jvms, int threads, int locks, Duration section) {

    public static Load of(int jvms, int threads) {
        return new Load(jvms, threads, 1, Duration.ZERO);
    }

    public Load withLocks(int number) {
        return new Load(jvms, threads, number, section);
    }

    public Load withSection(Duration length) {
        return new Load(jvms, threads, locks, length);
    }

    /** Whether threads wait for each other. */
    public boolean isContended() {
        return threads > locks;
    }

    /** How many threads worker {@code index} runs. */
    public int threadsOf(int index) {
        return threads / jvms + (index < threads % jvms ? 1 : 0);
    }
}
