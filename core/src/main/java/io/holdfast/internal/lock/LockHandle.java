package io.holdfast.internal.lock;

import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.ReentrantDistributedLock;
import io.holdfast.internal.acquire.Acquisitions;
import io.holdfast.internal.acquire.LockTerms;
import io.holdfast.internal.ticket.Views;

/** A lock of this client under given terms. Thread-safe. */
public final class LockHandle extends LeaseHandle implements DistributedLock {

    private final ReentrantOwners owners;

    public LockHandle(Acquisitions acquisitions, Views views, ReentrantOwners owners, LockTerms terms) {
        super(acquisitions, views, terms);
        this.owners = owners;
    }

    LockHandle withDemand(Demand other) {
        return new LockHandle(acquisitions, views, owners, terms.withDemand(other));
    }

    @Override
    public ReentrantDistributedLock asReentrantLock() {
        return new ReentrantHandle(acquisitions, owners, terms);
    }

    @Override
    public String toString() {
        return "DistributedLock[" + name() + ", " + terms.demand() + "]";
    }
}
