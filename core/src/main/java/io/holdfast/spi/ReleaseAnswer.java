package io.holdfast.spi;

/** What a store says to a release. */
public enum ReleaseAnswer {
    RELEASED,
    /** This owner did not hold the lock any more; nothing was changed. */
    NOT_HELD
}
