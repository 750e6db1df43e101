package io.holdfast;

/**
 * A named lock that at most one valid lease holds.
 *
 * <pre>{@code
 * try (Lease lease = lock.acquire()) {
 *     stock.deduct("sku-42", 1, lease.token());
 * }
 * }</pre>
 *
 * <p>Thread-safe; not re-entrant (see {@link #asReentrantLock}). A lease can be lost while its holder still runs, so
 * guard writes to other systems with {@link Lease#token}.
 */
public interface DistributedLock extends Acquirable<Lease> {

    String name();

    LockOptions options();

    /** Who holds the lock and who waits for it, as the store sees it now. */
    LockView inspect();

    /** The same lock as a {@link java.util.concurrent.locks.Lock}: re-entrant, owned by a thread. */
    ReentrantDistributedLock asReentrantLock();
}
