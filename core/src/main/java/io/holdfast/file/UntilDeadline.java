package io.holdfast.file;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Trying again until a deadline: a thread that waited inside the kernel could not keep one. */
final class UntilDeadline {

    private static final int SPINS = 30;
    private static final long FIRST_PAUSE_NANOS = 20_000;
    private static final long LONGEST_PAUSE_NANOS = 4_000_000;

    /** A guard is had for microseconds: a request without time left is not failed because of it. */
    private static final long LEAST_PATIENCE_NANOS = 20_000_000;

    private UntilDeadline() {}

    /** Something that may not work at the first try. */
    @FunctionalInterface
    interface Attempt {
        boolean succeeds() throws IOException;
    }

    /** Tries until the deadline, and at least for a moment. Keeps the interrupt flag and is not stopped by it. */
    static boolean attempt(TimeSource time, Deadline deadline, Attempt attempt) throws IOException {
        long pause = FIRST_PAUSE_NANOS;
        long endNanos = time.nanoTime() + Math.max(deadline.remainingNanos(), LEAST_PATIENCE_NANOS);
        for (int tries = 0; ; tries++) {
            boolean succeeded = attempt.succeeds();
            if (succeeded || endNanos - time.nanoTime() <= 0) {
                return succeeded;
            }
            if (tries < SPINS) {
                Thread.onSpinWait();
            } else {
                time.parkUntil(attempt, time.nanoTime() + pause);
                pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
            }
        }
    }

    /** The same for the threads of this JVM. */
    static boolean lock(ReentrantLock mutex, Deadline deadline) {
        if (mutex.tryLock()) {
            return true;
        }
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    long nanos = Math.max(deadline.remainingNanos(), LEAST_PATIENCE_NANOS);
                    return mutex.tryLock(nanos, TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
