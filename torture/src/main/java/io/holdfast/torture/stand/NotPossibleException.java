package io.holdfast.torture.stand;

/** Something cannot be done on this machine; the message says why, and what would make it possible. */
public final class NotPossibleException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public NotPossibleException(String why) {
        super(why);
    }

    public NotPossibleException(String why, Throwable cause) {
        super(why, cause);
    }
}
