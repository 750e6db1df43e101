package io.holdfast;

import java.time.Duration;

/** Trouble with a lock: never mere contention, which is an empty {@code tryAcquire}. */
public abstract sealed class LockException extends RuntimeException
        permits StoreUnavailableException,
                UnknownOutcomeException,
                LeaseLostException,
                UnsupportedLockException,
                ClientClosedException {

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

    /** What is true for the holder of a lease, whatever became of the request. */
    static String stillHeld(Duration stillValidFor) {
        return "You still hold the lock, for " + stillValidFor.toMillis() / 1000.0
                + " s unless it is renewed; try again, or" + " check the store.";
    }

    /** The lock this is about. */
    public String lockName() {
        return lockName;
    }
}
