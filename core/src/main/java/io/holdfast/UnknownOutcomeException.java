package io.holdfast;

/**
 * A request was sent and its answer never came, so it may have been applied.
 *
 * <p>The caller holds nothing; whatever the request left behind is removed in the background.
 */
public final class UnknownOutcomeException extends LockException {

    private static final long serialVersionUID = 1L;

    private final String reason;

    public UnknownOutcomeException(String lockName, String what) {
        super(lockName, message(lockName, what));
        this.reason = what;
    }

    public UnknownOutcomeException(String lockName, String what, Throwable cause) {
        super(lockName, message(lockName, what), cause);
        this.reason = what;
    }

    /** What became of the answer, without the name of the lock. */
    public String reason() {
        return reason;
    }

    private static String message(String lockName, String what) {
        return "A request for lock '" + lockName + "' was sent but not answered: " + what
                + ". You do not hold the lock; what the request may have left behind is being removed, try again.";
    }
}
