package io.holdfast;

/** The store could not be asked, so nothing was taken. Trying again later is safe. */
public final class StoreUnavailableException extends LockException {

    private static final long serialVersionUID = 1L;

    private final String reason;

    public StoreUnavailableException(String lockName, String what) {
        super(lockName, message(lockName, what));
        this.reason = what;
    }

    public StoreUnavailableException(String lockName, String what, Throwable cause) {
        super(lockName, message(lockName, what), cause);
        this.reason = what;
    }

    /** Why it could not be asked, without the name of the lock. */
    public String reason() {
        return reason;
    }

    private static String message(String lockName, String what) {
        if (lockName.isEmpty() || lockName.equals("*")) {
            return "The store is unavailable: " + what + ". Check it and try again.";
        }
        return "The store of lock '" + lockName + "' is unavailable: " + what
                + ". Nothing was acquired; check the store and try again.";
    }
}
