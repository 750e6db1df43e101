package io.holdfast.internal.acquire;

import io.holdfast.Demand;
import io.holdfast.Lease;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Which threads of this client own a lock re-entrantly. Normally one; a thread whose lease was lost stays until it has
 * unlocked, so that it is told so even if another owns the lock by then. Thread-safe.
 */
public final class ReentrantOwner {

    private final ConcurrentHashMap<Thread, Owned> threads = new ConcurrentHashMap<>();

    @Nullable
    public Owned current() {
        return threads.get(Thread.currentThread());
    }

    public void own(Lease lease, Demand demand) {
        threads.put(Thread.currentThread(), new Owned(lease, demand));
    }

    public void disown() {
        threads.remove(Thread.currentThread());
    }

    /** Touched by its own thread only. */
    public static final class Owned {

        private final Lease lease;
        private final Demand demand;
        private int depth = 1;

        Owned(Lease lease, Demand demand) {
            this.lease = lease;
            this.demand = demand;
        }

        public Lease lease() {
            return lease;
        }

        public Demand demand() {
            return demand;
        }

        /** A writer may read, but a reader cannot become a writer. */
        public boolean covers(Demand other) {
            return demand instanceof Demand.Exclusive || demand.equals(other);
        }

        public void enterAgain() {
            depth++;
        }

        /** Whether that was the last time. */
        public boolean exit() {
            return --depth == 0;
        }
    }
}
