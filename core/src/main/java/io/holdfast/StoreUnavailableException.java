package io.holdfast;

import java.time.Duration;

/** The store could not be asked, so nothing was taken or changed. Trying again later is safe. */
public final class StoreUnavailableException extends LockException {

    private static final long serialVersionUID = 1L;

    private static final String ALL_LOCKS = "*";
    private static final String NOT_HELD = "Nothing was acquired; check the store and try again.";

    private final String reason;

    public StoreUnavailableException(String lockName, String what) {
        super(lockName, message(lockName, what, NOT_HELD));
        this.reason = what;
    }

    public StoreUnavailableException(String lockName, String what, Throwable cause) {
        super(lockName, message(lockName, what, NOT_HELD), cause);
        this.reason = what;
    }

    private StoreUnavailableException(StoreUnavailableException original, Duration stillValidFor) {
        super(original.lockName(), message(original.lockName(), original.reason, stillHeld(stillValidFor)), original);
        this.reason = original.reason;
    }

    /** From a request that is about no lock in particular. */
    public static StoreUnavailableException ofWholeStore(String what, Throwable cause) {
        return new StoreUnavailableException(ALL_LOCKS, what, cause);
    }

    /** Why it could not be asked, without the name of the lock. */
    public String reason() {
        return reason;
    }

    /** The same of a lease that is held all the while. */
    @Override
    public StoreUnavailableException whileHeld(Duration stillValidFor) {
        return new StoreUnavailableException(this, stillValidFor);
    }

    private static String message(String lockName, String what, String consequence) {
        if (lockName.isEmpty() || lockName.equals(ALL_LOCKS)) {
            return "The store is unavailable: " + sentence(what) + " Check it and try again.";
        }
        return "The store of lock '" + lockName + "' is unavailable: " + sentence(what) + " " + consequence;
    }
}
