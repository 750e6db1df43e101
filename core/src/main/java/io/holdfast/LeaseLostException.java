package io.holdfast;

/** The lease is no longer valid: somebody else may hold the lock by now. */
public final class LeaseLostException extends LockException {

    private static final long serialVersionUID = 1L;

    private final long token;

    public LeaseLostException(String lockName, long token, String why) {
        super(
                lockName,
                "The lease on lock '" + lockName + "' with token " + token + " is lost: " + why
                        + ". Stop the protected work; acquire the lock again to go on.");
        this.token = token;
    }

    /** The token of the lost lease. */
    public long token() {
        return token;
    }
}
