package io.holdfast.spi;

import java.util.concurrent.locks.LockSupport;

/** Monotonic time, and waiting for it. Thread-safe; replaced by a hand-moved one in tests. */
public interface TimeSource {

    /** As {@link System#nanoTime}: only differences mean anything. */
    long nanoTime();

    /** Parks until that time, an unpark, an interrupt, or for no reason: callers check and park again. */
    void parkUntil(Object blocker, long untilNanos);

    static TimeSource system() {
        return SystemTime.INSTANCE;
    }

    /** The JVM's own clock, which does not jump when the wall clock does. */
    enum SystemTime implements TimeSource {
        INSTANCE;

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            long left = untilNanos - System.nanoTime();
            if (left > 0) {
                LockSupport.parkNanos(blocker, left);
            }
        }
    }
}
