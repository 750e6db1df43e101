package io.holdfast;

/** The store cannot keep what the options ask for. */
public final class UnsupportedLockException extends LockException {

    private static final long serialVersionUID = 1L;

    public UnsupportedLockException(String lockName, String why) {
        super(lockName, "Lock '" + lockName + "' cannot be had like this: " + why + ".");
    }
}
