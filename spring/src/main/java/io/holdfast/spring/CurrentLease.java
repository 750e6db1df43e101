package io.holdfast.spring;

import io.holdfast.Lease;
import io.holdfast.spring.held.Held;
import io.holdfast.spring.held.HeldByThread;
import java.util.Optional;

/**
 * The lease under which the calling thread runs a {@link Locked} or {@link ScheduledLock} method: the innermost one's. Of several
 * locks that were taken together, it is the lease of the one that is named first.
 */
public final class CurrentLease {

    private CurrentLease() {}

    /**
     * Its fencing token.
     *
     * @throws IllegalStateException if the thread runs under no lease
     */
    public static long token() {
        return current().token();
    }

    /** Empty outside of such methods. */
    public static Optional<Lease> lease() {
        return HeldByThread.innermost().map(held -> held.leases().get(0));
    }

    /**
     * The lease, which is valid: to begin methods with that must not run without their lock, since a call from within the same
     * object goes past it.
     *
     * @throws IllegalStateException if the thread runs under no lease
     * @throws io.holdfast.LeaseLostException if it is lost, or that of another lock of the method
     */
    public static Lease require() {
        Lease lease = current();
        HeldByThread.innermost().ifPresent(Held::requireValid);
        return lease;
    }

    private static Lease current() {
        return lease().orElseThrow(() -> new IllegalStateException(
                "No lock is held here. Call the @Locked method through its bean: a call from within the same object is not"
                        + " locked, nor is one from a thread that the method started."));
    }
}
