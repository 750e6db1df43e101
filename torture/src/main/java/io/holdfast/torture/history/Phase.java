package io.holdfast.torture.history;

/** Where in its operation an {@link Event} stands. */
public enum Phase {
    /** About to be called. */
    INVOKE,
    /** It happened. */
    OK,
    /** It certainly did not happen. */
    FAIL,
    /** It may have happened, or may yet. */
    UNKNOWN,
    /** The lease had ended before. */
    TOLD_LOST
}
