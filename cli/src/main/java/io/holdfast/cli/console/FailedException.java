package io.holdfast.cli.console;

/** The command cannot go on; the message is for people and says what to do next. */
public final class FailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Failure failure;

    public FailedException(Failure failure, String message) {
        super(message);
        this.failure = failure;
    }

    public Failure failure() {
        return failure;
    }
}
