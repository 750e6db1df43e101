package io.holdfast;

/** Trouble with a lock: never mere contention, which is an empty {@code tryAcquire}. */
public abstract sealed class LockException extends RuntimeException
        permits StoreUnavailableException, UnknownOutcomeException, LeaseLostException, UnsupportedLockException {

    private static final long serialVersionUID = 1L;

    private final String lockName;

    LockException(String lockName, String message) {
        super(message);
        this.lockName = lockName;
    }

    LockException(String lockName, String message, Throwable cause) {
        super(message, cause);
        this.lockName = lockName;
    }

    /** The lock this is about. */
    public String lockName() {
        return lockName;
    }
}
