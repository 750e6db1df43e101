package io.holdfast.cli;

/** The command cannot go on; the message is for people and says what to do next. */
final class FailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Failure failure;

    FailedException(Failure failure, String message) {
        super(message);
        this.failure = failure;
    }

    Failure failure() {
        return failure;
    }
}
