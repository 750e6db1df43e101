package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.time.Duration;

/** Gives servers a moment to replace one that has failed. Thread-safe. */
public final class FailoverPause {

    private static final Duration PAUSE = Duration.ofMillis(100);

    private final Topology topology;
    private final TimeSource time;

    public FailoverPause(Topology topology, TimeSource time) {
        this.topology = topology;
        this.time = time;
    }

    /** Waits before another server is looked for; false, at once, if there is none to hope for or no time for it. */
    public boolean pause(Deadline deadline) {
        if (!topology.failsOver() || deadline.remaining().compareTo(PAUSE) <= 0) {
            return false;
        }
        long until = time.nanoTime() + PAUSE.toNanos();
        boolean interrupted = false;
        while (until - time.nanoTime() > 0) {
            time.parkUntil(this, until);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return true;
    }
}
