package io.holdfast.internal.lock;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.ReentrantDistributedLock;
import io.holdfast.ReleaseResult;
import io.holdfast.internal.acquire.Acquisitions;
import io.holdfast.internal.acquire.LockTerms;
import io.holdfast.internal.acquire.Patience;
import io.holdfast.internal.acquire.SyncDriver;
import io.holdfast.internal.lease.HeldLease;
import io.holdfast.internal.lock.ReentrantOwners.Owned;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/** A lock as {@link Lock}: re-entrant, owned by a thread. Locking again on a lost lease throws. Thread-safe. */
final class ReentrantHandle implements ReentrantDistributedLock {

    private final Acquisitions acquisitions;
    private final ReentrantOwners owners;
    private final LockTerms terms;

    ReentrantHandle(Acquisitions acquisitions, ReentrantOwners owners, LockTerms terms) {
        this.acquisitions = acquisitions;
        this.owners = owners;
        this.terms = terms;
    }

    @Override
    public void lock() {
        if (!enterAgain()) {
            own(SyncDriver.acquireUninterruptibly(acquisitions, terms, acquisitions.endless()));
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        requireNoInterrupt();
        if (!enterAgain()) {
            own(SyncDriver.acquire(acquisitions, terms, acquisitions.endless()));
        }
    }

    @Override
    public boolean tryLock() {
        return enterAgain() || own(SyncDriver.acquireUninterruptibly(acquisitions, terms, acquisitions.oneTry()));
    }

    @Override
    public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
        requireNoInterrupt();
        if (enterAgain()) {
            return true;
        }
        Patience patience = acquisitions.upTo(Duration.ofNanos(unit.toNanos(wait)));
        return own(SyncDriver.acquire(acquisitions, terms, patience));
    }

    @Override
    public void unlock() {
        Owned owned = owned();
        if (owned == null) {
            throw new IllegalMonitorStateException(
                    "thread " + Thread.currentThread().getName() + " does not own lock '" + terms.name() + "'");
        }
        if (!owned.exit()) {
            return;
        }
        owners.disown(terms.name());
        if (owned.lease().release() == ReleaseResult.ALREADY_LOST) {
            throw new LeaseLostException(
                    terms.name(),
                    owned.lease().token(),
                    "it ended before unlock, so others may have held it meanwhile");
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("distributed locks have no conditions");
    }

    private void requireNoInterrupt() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before locking '" + terms.name() + "'");
        }
    }

    private boolean enterAgain() {
        Owned owned = owners.current(terms.name());
        if (owned == null) {
            return false;
        }
        if (!owned.covers(terms.demand())) {
            throw new IllegalStateException("thread " + Thread.currentThread().getName() + " owns lock '" + terms.name()
                    + "' as " + owned.demand() + " and cannot have it as " + terms.demand() + " too: unlock first");
        }
        owned.lease().requireValid();
        owned.enterAgain();
        return true;
    }

    private boolean own(@Nullable HeldLease lease) {
        if (lease != null) {
            owners.own(terms.name(), lease.delivered(), terms.demand());
        }
        return lease != null;
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return getHoldCount() > 0;
    }

    @Override
    public int getHoldCount() {
        Owned owned = owned();
        return owned == null ? 0 : owned.depth();
    }

    @Override
    public Optional<Lease> lease() {
        return Optional.ofNullable(owned()).map(Owned::lease);
    }

    /** What the calling thread owns, if that is as much as this lock is: a reader does not own the write lock. */
    private @Nullable Owned owned() {
        Owned owned = owners.current(terms.name());
        return owned != null && owned.covers(terms.demand()) ? owned : null;
    }

    @Override
    public String toString() {
        return "ReentrantLock[" + terms.name() + "]";
    }
}
