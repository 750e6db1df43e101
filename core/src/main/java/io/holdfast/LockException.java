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

    /** The same trouble as it is to somebody who holds the lock all the while: with other words, where they differ. */
    public LockException whileHeld(Duration stillValidFor) {
        return this;
    }

    /** What drivers and servers say may be a sentence of its own. */
    static String sentence(String text) {
        return text.endsWith(".") ? text : text + ".";
    }

    static String stillHeld(Duration stillValidFor) {
        return "You still hold the lock, for " + stillValidFor.toMillis() / 1000.0
                + " s unless it is renewed; check the store.";
    }

    /** The lock this is about. */
    public String lockName() {
        return lockName;
    }
}
