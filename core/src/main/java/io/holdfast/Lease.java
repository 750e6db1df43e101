package io.holdfast;

import java.time.Duration;

/**
 * One acquisition of a lock, held until released, lost or expired.
 *
 * <p>Thread-safe. A lease can be lost while its holder still runs, so pass {@link #token} to whatever the lock protects
 * and let it refuse a smaller token than it has seen.
 */
public interface Lease extends Hold {

    /** The lock's name. */
    String name();

    /**
     * The fencing token: of two leases of one lock that exclude each other, the later has the larger. Never changes.
     */
    long token();

    /**
     * Makes the lease valid for at least {@code atLeast} from now. Never shortens it.
     *
     * @throws LeaseLostException if it is lost already
     * @throws UnknownOutcomeException if the store did not answer; the lease is then valid as long as before
     */
    void extend(Duration atLeast);
}
