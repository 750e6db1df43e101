package io.holdfast.spring.boot;

/** No lock store is configured, or the one that was found cannot be used. */
public final class NoLockStoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String nextStep;

    NoLockStoreException(String problem, String nextStep) {
        super(problem);
        this.nextStep = nextStep;
    }

    NoLockStoreException(String problem, String nextStep, Throwable cause) {
        super(problem, cause);
        this.nextStep = nextStep;
    }

    /** What to do. */
    public String nextStep() {
        return nextStep;
    }
}
