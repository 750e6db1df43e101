package io.holdfast.internal.lock;

import io.holdfast.Lease;
import io.holdfast.LeaseWork;
import io.holdfast.internal.lease.HeldLease;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** One stretch of work as leader on the calling thread, which is interrupted if the leadership ends. Used once. */
final class LeaderTerm {

    private static final Logger LOG = System.getLogger(LeaderTerm.class.getName());

    /** How it ended. */
    enum End {
        /** The work was done, or threw, while the leadership lasted, or after the work itself had resigned. */
        DONE,
        /** The leadership ended before the work. */
        OVERTAKEN
    }

    private enum Stage {
        WORKING,
        INTERRUPTED,
        ENDED
    }

    private final Lease lease;
    private final Thread worker = Thread.currentThread();
    private final ReentrantLock guard = new ReentrantLock();
    private Stage stage = Stage.WORKING; // guarded by guard

    LeaderTerm(Lease lease) {
        this.lease = lease;
    }

    Lease lease() {
        return lease;
    }

    <X extends Exception> End serve(LeaseWork<? super Lease, X> work) throws X {
        lease.onLost(loss -> interrupt());
        @Nullable Throwable failure = null;
        try {
            work.run(lease);
        } catch (Throwable e) {
            failure = e;
        }
        boolean overtaken = wasInterrupted() || isLost();
        if (failure != null && (failure instanceof Error || !overtaken)) {
            throw Rethrown.<X>as(failure);
        }
        if (failure != null) {
            LOG.log(Level.DEBUG, "The work of a leader was overtaken by the end of its leadership", failure);
        }
        return overtaken ? End.OVERTAKEN : End.DONE;
    }

    /** The leadership was resigned: interrupts the work, unless it was the work itself that resigned. */
    void interruptOther() {
        if (Thread.currentThread() != worker) {
            interrupt();
        }
    }

    private void interrupt() {
        guard.lock();
        try {
            if (stage == Stage.WORKING) {
                stage = Stage.INTERRUPTED;
                worker.interrupt();
            }
        } finally {
            guard.unlock();
        }
    }

    /** Takes back an interrupt of ours, which has done its work. */
    private boolean wasInterrupted() {
        guard.lock();
        try {
            boolean interrupted = stage == Stage.INTERRUPTED;
            stage = Stage.ENDED;
            if (interrupted) {
                Thread.interrupted();
            }
            return interrupted;
        } finally {
            guard.unlock();
        }
    }

    private boolean isLost() {
        return !lease.isValid()
                && lease instanceof HeldLease held
                && held.life().isLost();
    }
}
