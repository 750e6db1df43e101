package io.holdfast.internal;

import io.holdfast.internal.Acquisition.Patience;
import io.holdfast.spi.Deadline;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Drives an acquisition on the calling thread, which parks while there is nothing to do. */
final class SyncDriver {

    private SyncDriver() {}

    /** Null if it ended without a lease. */
    static @Nullable HeldLease acquire(Client client, LockTerms terms, Patience patience, Deadline deadline)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Acquisition acquisition = start(client, terms, patience, deadline);
        while (!acquisition.advance()) {
            if (Thread.interrupted()) {
                acquisition.abandon("interrupted");
                throw new InterruptedException("interrupted while waiting for lock '" + terms.name() + "'");
            }
            client.time().parkUntil(acquisition, acquisition.wakeAtNanos());
        }
        return acquisition.takeLease();
    }

    /** As {@link #acquire}, but interrupts only show in the flag afterwards. */
    static @Nullable HeldLease acquireUninterruptibly(
            Client client, LockTerms terms, Patience patience, Deadline deadline) {
        Acquisition acquisition = start(client, terms, patience, deadline);
        boolean interrupted = false;
        try {
            while (!acquisition.advance()) {
                client.time().parkUntil(acquisition, acquisition.wakeAtNanos());
                interrupted |= Thread.interrupted();
            }
            return acquisition.takeLease();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Acquisition start(Client client, LockTerms terms, Patience patience, Deadline deadline) {
        Thread thread = Thread.currentThread();
        return new Acquisition(client, terms, patience, deadline, () -> LockSupport.unpark(thread));
    }
}
