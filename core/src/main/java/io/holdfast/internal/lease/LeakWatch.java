package io.holdfast.internal.lease;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * Warns of leases that were dropped without being released. They stay held: whoever forgot the lease may still rely on
 * the lock. Thread-safe.
 */
public final class LeakWatch {

    private static final Logger LOG = System.getLogger(LeakWatch.class.getName());

    private final ReferenceQueue<HeldLease> dropped = new ReferenceQueue<>();

    /** The result must be kept with the lease's state and cleared on release. */
    WeakReference<HeldLease> watch(HeldLease lease, LeaseLife life) {
        return new Watched(lease, life, dropped);
    }

    public void report() {
        Object reference;
        while ((reference = dropped.poll()) != null) {
            LeaseLife life = ((Watched) reference).life;
            if (life.isHeld()) {
                LOG.log(
                        Level.WARNING,
                        "The lease on lock ''{0}'' with token {1}, acquired by thread {2}, was never closed and nothing"
                                + " refers to it any more. The lock stays held until this client is closed; use"
                                + " try-with-resources",
                        life.name(),
                        Long.toString(life.token()),
                        life.thread());
            }
        }
    }

    private static final class Watched extends WeakReference<HeldLease> {

        private final LeaseLife life;

        Watched(HeldLease lease, LeaseLife life, @Nullable ReferenceQueue<HeldLease> queue) {
            super(lease, queue);
            this.life = life;
        }
    }
}
