package io.holdfast.file;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Locks on single bytes, tried and never waited for inside the kernel: a thread blocked there could not keep a
 * deadline. Trying needs no interruptible channel operation, so a thread with its interrupt flag set may do it.
 */
final class ByteLocks {

    /** Beyond all data, for on some systems a locked byte cannot be read. */
    private static final long BYTE = 1L << 40;

    private static final int SPINS = 30;
    private static final long FIRST_PAUSE_NANOS = 20_000;
    private static final long LONGEST_PAUSE_NANOS = 4_000_000;

    /** A guard is had for microseconds: who has no time left shall not hear of trouble because of it. */
    private static final long LEAST_PATIENCE_NANOS = 20_000_000;

    enum Mode {
        EXCLUSIVE,
        SHARED
    }

    private ByteLocks() {}

    /** Empty if another process has it, or another copy of this class in this JVM. */
    static Optional<FileLock> attempt(FileChannel channel, Mode mode) throws IOException {
        try {
            return Optional.ofNullable(channel.tryLock(BYTE, 1, mode == Mode.SHARED));
        } catch (OverlappingFileLockException e) {
            return Optional.empty();
        }
    }

    /** Tries until the deadline, and at least for a moment. */
    static Optional<FileLock> take(FileChannel channel, Mode mode, TimeSource time, Deadline deadline)
            throws IOException {
        long pause = FIRST_PAUSE_NANOS;
        long endNanos = time.nanoTime() + Math.max(deadline.remainingNanos(), LEAST_PATIENCE_NANOS);
        for (int tries = 0; ; tries++) {
            Optional<FileLock> taken = attempt(channel, mode);
            if (taken.isPresent() || endNanos - time.nanoTime() <= 0) {
                return taken;
            }
            if (tries < SPINS) {
                Thread.onSpinWait();
            } else {
                time.parkUntil(channel, time.nanoTime() + pause);
                pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
            }
        }
    }

    /** The same for the threads of this JVM. Keeps the interrupt flag and is not stopped by it. */
    static boolean take(ReentrantLock mutex, Deadline deadline) {
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
