package io.holdfast.internal.lock;

import io.holdfast.Demand;
import io.holdfast.Lease;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Which threads of this client own which locks re-entrantly. Normally one per lock; a thread whose lease was lost stays until it
 * has unlocked, so that it is told so even if another owns the lock by then. Thread-safe.
 */
public final class ReentrantOwners {

    private record Key(String lock, Thread thread) {}

    private final ConcurrentHashMap<Key, Owned> owned = new ConcurrentHashMap<>();

    /** What the calling thread owns of that lock. */
    @Nullable
    Owned current(String lock) {
        return owned.get(new Key(lock, Thread.currentThread()));
    }

    void own(String lock, Lease lease, Demand demand) {
        owned.put(new Key(lock, Thread.currentThread()), new Owned(lease, demand));
    }

    void disown(String lock) {
        owned.remove(new Key(lock, Thread.currentThread()));
    }

    /** A thread that has ended cannot unlock any more: its leases are noticed as never closed once nobody refers to them. */
    public void forgetDeadThreads() {
        owned.keySet().removeIf(key -> !key.thread.isAlive());
    }

    /** Touched by its own thread only. */
    static final class Owned {

        private final Lease lease;
        private final Demand demand;
        private int depth = 1;

        Owned(Lease lease, Demand demand) {
            this.lease = lease;
            this.demand = demand;
        }

        Lease lease() {
            return lease;
        }

        Demand demand() {
            return demand;
        }

        int depth() {
            return depth;
        }

        /** A writer may read, but a reader cannot become a writer. */
        boolean covers(Demand other) {
            return demand instanceof Demand.Exclusive || demand.equals(other);
        }

        void enterAgain() {
            depth++;
        }

        /** Whether that was the last time. */
        boolean exit() {
            return --depth == 0;
        }
    }
}
