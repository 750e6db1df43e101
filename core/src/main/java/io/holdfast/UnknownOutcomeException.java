package io.holdfast;

import java.time.Duration;

/**
 * A request was sent and its answer never came, so it may have been applied.
 *
 * <p>From an acquisition: the caller holds nothing, and whatever the request left behind is removed in the background. From a
 * lease in use: it is valid as long as before.
 */
public final class UnknownOutcomeException extends LockException {

    private static final long serialVersionUID = 1L;

    public UnknownOutcomeException(String lockName, String what) {
        super(lockName, message(lockName, what));
    }

    public UnknownOutcomeException(String lockName, String what, Throwable cause) {
        super(lockName, message(lockName, what), cause);
    }

    private UnknownOutcomeException(UnknownOutcomeException cause, String message) {
        super(cause.lockName(), message, cause);
    }

    /** The same of a lease that is held all the while. */
    public UnknownOutcomeException whileHeld(Duration stillValidFor) {
        return new UnknownOutcomeException(
                this,
                "A request about the lease on lock '" + lockName() + "' was sent but not answered. "
                        + stillHeld(stillValidFor));
    }

    private static String message(String lockName, String what) {
        return "A request for lock '" + lockName + "' was sent but not answered: " + what
                + ". You do not hold the lock; what the request may have left behind is being removed, try again.";
    }
}
