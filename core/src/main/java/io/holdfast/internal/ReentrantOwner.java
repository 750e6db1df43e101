package io.holdfast.internal;

import io.holdfast.Demand;
import io.holdfast.Lease;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Which threads of this client own a lock re-entrantly. Normally one; a thread whose lease was lost stays until it has
 * unlocked, so that it is told so even if another owns the lock by then. Thread-safe.
 */
final class ReentrantOwner {

    private final ConcurrentHashMap<Thread, Owned> threads = new ConcurrentHashMap<>();

    @Nullable
    Owned current() {
        return threads.get(Thread.currentThread());
    }

    void own(Lease lease, Demand demand) {
        threads.put(Thread.currentThread(), new Owned(lease, demand));
    }

    void disown() {
        threads.remove(Thread.currentThread());
    }

    /** Touched by its own thread only. */
    static final class Owned {

        final Lease lease;
        final Demand demand;
        int depth = 1;

        Owned(Lease lease, Demand demand) {
            this.lease = lease;
            this.demand = demand;
        }

        /** A writer may read, but a reader cannot become a writer. */
        boolean covers(Demand other) {
            return demand instanceof Demand.Exclusive || demand.equals(other);
        }
    }
}
