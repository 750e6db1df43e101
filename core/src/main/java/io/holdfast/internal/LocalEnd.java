package io.holdfast.internal;

/**
 * When a grant ends here unless the store extends it.
 *
 * <p>Once somebody was told that it has passed, it has: an answer that arrives afterwards extends nothing, though the store may have
 * extended the grant in time. So a holder that was told that its lease is over is never told otherwise. Thread-safe.
 */
final class LocalEnd {

    private volatile long nanos;
    private boolean seenPassed; // guarded by this

    LocalEnd(long nanos) {
        this.nanos = nanos;
    }

    long nanos() {
        return nanos;
    }

    boolean hasPassed(long nowNanos) {
        return nanos - nowNanos <= 0 && seePassed(nowNanos);
    }

    /** False if somebody was told before that it has passed. */
    synchronized boolean extendTo(long newNanos) {
        if (!seenPassed && newNanos - nanos > 0) {
            nanos = newNanos;
        }
        return !seenPassed;
    }

    /** False if it was extended a moment ago. */
    private synchronized boolean seePassed(long nowNanos) {
        if (nanos - nowNanos <= 0) {
            seenPassed = true;
        }
        return seenPassed;
    }
}
