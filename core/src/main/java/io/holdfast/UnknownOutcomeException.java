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

    private static final String NOT_HELD =
            "You do not hold the lock; what the request may have left behind is being removed, try again.";

    private final String reason;

    public UnknownOutcomeException(String lockName, String what) {
        super(lockName, message(lockName, what, NOT_HELD));
        this.reason = what;
    }

    public UnknownOutcomeException(String lockName, String what, Throwable cause) {
        super(lockName, message(lockName, what, NOT_HELD), cause);
        this.reason = what;
    }

    private UnknownOutcomeException(UnknownOutcomeException original, Duration stillValidFor) {
        super(original.lockName(), message(original.lockName(), original.reason, stillHeld(stillValidFor)), original);
        this.reason = original.reason;
    }

    /** What became of the answer, without the name of the lock. */
    public String reason() {
        return reason;
    }

    /** The same of a lease that is held all the while. */
    @Override
    public UnknownOutcomeException whileHeld(Duration stillValidFor) {
        return new UnknownOutcomeException(this, stillValidFor);
    }

    private static String message(String lockName, String what, String consequence) {
        return "A request for lock '" + lockName + "' was sent but not answered: " + sentence(what) + " " + consequence;
    }
}
