package io.holdfast;

import java.util.Optional;
import java.util.concurrent.locks.Lock;

/**
 * A distributed lock as a {@link Lock}: re-entrant, owned by a thread.
 *
 * <p>Thread-safe. All views of one lock in one client share their owners. Locking again on a lost lease throws
 * {@link LeaseLostException}, and so does {@code unlock} if the lease was lost meanwhile; {@code unlock} by a thread that does
 * not own the lock throws {@link IllegalMonitorStateException}. A thread that owns the write side may take the read side too,
 * which counts as locking again; the other way round throws {@link IllegalStateException}, since it could never succeed.
 * {@code newCondition} is not supported.
 */
public interface ReentrantDistributedLock extends Lock {

    boolean isHeldByCurrentThread();

    /** How often the calling thread has locked it and not unlocked yet. */
    int getHoldCount();

    /** The lease of the calling thread, if it owns the lock. Releasing it by hand leaves the lock to others before unlock. */
    Optional<Lease> lease();
}
