package io.holdfast;

/** The store could not be asked, so nothing was taken. Trying again later is safe. */
public final class StoreUnavailableException extends LockException {

    private static final long serialVersionUID = 1L;

    public StoreUnavailableException(String lockName, String what) {
        super(lockName, message(lockName, what));
    }

    public StoreUnavailableException(String lockName, String what, Throwable cause) {
        super(lockName, message(lockName, what), cause);
    }

    private static String message(String lockName, String what) {
        return "The store of lock '" + lockName + "' is unavailable: " + what
                + ". Nothing was acquired; check the store and try again.";
    }
}
