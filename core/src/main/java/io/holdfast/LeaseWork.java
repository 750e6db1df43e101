package io.holdfast;

/**
 * Work that is done while a lock is held.
 *
 * @param <H> the lease, or the leases of several locks
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface LeaseWork<H extends Hold, X extends Exception> {

    void run(H lease) throws X;
}
