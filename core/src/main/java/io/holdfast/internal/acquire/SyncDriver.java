package io.holdfast.internal.acquire;

import io.holdfast.LockEvent.Outcome;
import io.holdfast.internal.lease.HeldLease;
import io.holdfast.spi.Deadline;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Drives an acquisition on the calling thread, which parks while there is nothing to do. */
public final class SyncDriver {

    private SyncDriver() {}

    /** Null if it ended without a lease. */
    public static @Nullable HeldLease acquire(
            Acquisitions acquisitions, LockTerms terms, Patience patience, Deadline deadline)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Acquisition acquisition = start(acquisitions, terms, patience, deadline);
        while (!acquisition.advance()) {
            if (Thread.interrupted()) {
                acquisition.abandon(Outcome.INTERRUPTED, "the waiting thread was interrupted");
                throw new InterruptedException("interrupted while waiting for lock '" + terms.name() + "'");
            }
            acquisitions.time.parkUntil(acquisition, acquisition.wakeAtNanos());
        }
        return acquisition.takeLease();
    }

    /** As {@link #acquire}, but interrupts only show in the flag afterwards. */
    public static @Nullable HeldLease acquireUninterruptibly(
            Acquisitions acquisitions, LockTerms terms, Patience patience, Deadline deadline) {
        Acquisition acquisition = start(acquisitions, terms, patience, deadline);
        boolean interrupted = false;
        try {
            while (!acquisition.advance()) {
                acquisitions.time.parkUntil(acquisition, acquisition.wakeAtNanos());
                interrupted |= Thread.interrupted();
            }
            return acquisition.takeLease();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Acquisition start(Acquisitions acquisitions, LockTerms terms, Patience patience, Deadline deadline) {
        Thread thread = Thread.currentThread();
        return new Acquisition(acquisitions, terms, patience, deadline, () -> LockSupport.unpark(thread));
    }
}
