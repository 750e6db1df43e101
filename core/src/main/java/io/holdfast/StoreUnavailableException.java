package io.holdfast;

import java.time.Duration;

/** The store could not be asked, so nothing was taken or changed. Trying again later is safe. */
public final class StoreUnavailableException extends LockException {

    private static final long serialVersionUID = 1L;

    public StoreUnavailableException(String lockName, String what) {
        super(lockName, message(lockName, what));
    }

    public StoreUnavailableException(String lockName, String what, Throwable cause) {
        super(lockName, message(lockName, what), cause);
    }

    private StoreUnavailableException(StoreUnavailableException cause, String message) {
        super(cause.lockName(), message, cause);
    }

    private StoreUnavailableException(Throwable cause, String message) {
        super("*", message, cause);
    }

    /** From a request that is about no lock in particular. */
    public static StoreUnavailableException ofWholeStore(String what, Throwable cause) {
        return new StoreUnavailableException(cause, "The store is unavailable: " + what + ". Check it and try again.");
    }

    /** The same of a lease that is held all the while. */
    public StoreUnavailableException whileHeld(Duration stillValidFor) {
        return new StoreUnavailableException(
                this,
                "The store could not be asked about the lease on lock '" + lockName() + "'. "
                        + stillHeld(stillValidFor));
    }

    private static String message(String lockName, String what) {
        return "The store of lock '" + lockName + "' is unavailable: " + what
                + ". Nothing was acquired; check the store and try again.";
    }
}
