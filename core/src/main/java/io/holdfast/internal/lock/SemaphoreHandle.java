package io.holdfast.internal.lock;

import io.holdfast.Acquirable;
import io.holdfast.Demand;
import io.holdfast.DistributedSemaphore;
import io.holdfast.Lease;
import io.holdfast.internal.acquire.Acquisitions;
import io.holdfast.internal.acquire.LockTerms;
import io.holdfast.internal.ticket.Views;

/** A semaphore of this client: as itself it takes one permit. Thread-safe. */
public final class SemaphoreHandle extends LeaseHandle implements DistributedSemaphore {

    private final int total;

    /** @param terms of one permit */
    public SemaphoreHandle(Acquisitions acquisitions, Views views, LockTerms terms, int total) {
        super(acquisitions, views, terms);
        this.total = total;
    }

    @Override
    public int total() {
        return total;
    }

    @Override
    public Acquirable<Lease> permits(int count) {
        return new LeaseHandle(acquisitions, views, terms.withDemand(Demand.permits(count, total)));
    }

    @Override
    public String toString() {
        return "DistributedSemaphore[" + name() + ", " + total + " permits]";
    }
}
