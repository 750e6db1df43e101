package io.holdfast;

/**
 * Work that is done while a lock is held, and has a result.
 *
 * @param <H> the lease, or the leases of several locks
 * @param <T> the result
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface LeaseCall<H extends Hold, T, X extends Exception> {

    T call(H lease) throws X;
}
