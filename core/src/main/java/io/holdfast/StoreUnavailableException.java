package io.holdfast;

import java.time.Duration;

/** The store could not be asked, so nothing was taken or changed. Trying again later is safe. */
public final class StoreUnavailableException extends LockException {

    private static final long serialVersionUID = 1L;

    private static final String NOT_HELD = "Nothing was acquired; check the store and try again.";

    private final String what;

    public StoreUnavailableException(String lockName, String what) {
        super(lockName, message(lockName, what, NOT_HELD));
        this.what = what;
    }

    public StoreUnavailableException(String lockName, String what, Throwable cause) {
        super(lockName, message(lockName, what, NOT_HELD), cause);
        this.what = what;
    }

    private StoreUnavailableException(StoreUnavailableException original, Duration stillValidFor) {
        super(original.lockName(), message(original.lockName(), original.what, stillHeld(stillValidFor)), original);
        this.what = original.what;
    }

    private StoreUnavailableException(Throwable cause, String what) {
        super("*", "The store is unavailable: " + what + ". Check it and try again.", cause);
        this.what = what;
    }

    /** From a request that is about no lock in particular. */
    public static StoreUnavailableException ofWholeStore(String what, Throwable cause) {
        return new StoreUnavailableException(cause, what);
    }

    /** The same of a lease that is held all the while. */
    @Override
    public StoreUnavailableException whileHeld(Duration stillValidFor) {
        return new StoreUnavailableException(this, stillValidFor);
    }

    private static String message(String lockName, String what, String consequence) {
        return "The store of lock '" + lockName + "' is unavailable: " + what + ". " + consequence;
    }
}
