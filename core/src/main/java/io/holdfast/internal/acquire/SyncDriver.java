package io.holdfast.internal.acquire;

import io.holdfast.LockEvent.Outcome;
import io.holdfast.internal.lease.HeldLease;
import io.holdfast.internal.work.ClientExecutors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Drives an acquisition on the calling thread, which parks while there is nothing to do. */
public final class SyncDriver {

    private SyncDriver() {}

    /** Null if it ended without a lease. */
    public static @Nullable HeldLease acquire(Acquisitions acquisitions, LockTerms terms, Patience patience)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Acquisition acquisition = begin(acquisitions, terms, patience);
        while (!acquisition.advance()) {
            if (Thread.interrupted()) {
                acquisition.abandon(Outcome.INTERRUPTED, "the waiting thread was interrupted");
                throw new InterruptedException("interrupted while waiting for lock '" + terms.name() + "'");
            }
            park(acquisitions, acquisition);
        }
        return acquisition.takeLease();
    }

    /** As {@link #acquire}, but interrupts only show in the flag afterwards. */
    public static @Nullable HeldLease acquireUninterruptibly(
            Acquisitions acquisitions, LockTerms terms, Patience patience) {
        Acquisition acquisition = begin(acquisitions, terms, patience);
        boolean interrupted = false;
        try {
            while (!acquisition.advance()) {
                park(acquisitions, acquisition);
                interrupted |= Thread.interrupted();
            }
            return acquisition.takeLease();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Acquisition begin(Acquisitions acquisitions, LockTerms terms, Patience patience) {
        Acquisition acquisition = new Acquisition(acquisitions, terms, patience, Caller.thisThread());
        acquisition.begin();
        return acquisition;
    }

    /** On a thread for callbacks the pool may start another one meanwhile, so that callbacks that wait do not use it up. */
    private static void park(Acquisitions acquisitions, Acquisition acquisition) {
        if (!ClientExecutors.isOnCallbackThread()) {
            acquisitions.time.parkUntil(acquisition, acquisition.wakeAtNanos());
            return;
        }
        try {
            ForkJoinPool.managedBlock(new ForkJoinPool.ManagedBlocker() {
                @Override
                public boolean block() {
                    acquisitions.time.parkUntil(acquisition, acquisition.wakeAtNanos());
                    return true;
                }

                @Override
                public boolean isReleasable() {
                    return false;
                }
            });
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the loop around this looks at the flag
        } catch (RejectedExecutionException e) {
            acquisition.abandon(Outcome.FAILED, "too many callbacks wait for locks");
            throw new IllegalStateException(
                    "Too many callbacks of this client wait for locks at once, so lock '"
                            + acquisition.terms().name()
                            + "' cannot be waited for here: use acquireAsync(), or an executor with more threads.",
                    e);
        } catch (RuntimeException | Error e) {
            // No memory for one more thread, say.
            acquisition.abandon(Outcome.FAILED, String.valueOf(e.getMessage()));
            throw e;
        }
    }
}
