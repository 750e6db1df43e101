package io.holdfast;

/** Whether a lease is kept alive until it is released. */
public enum Renewal {
    /** Renewed in the background until released, lost, or its client dies. */
    AUTO,
    /** Valid for one ttl; only {@link Lease#extend} makes it longer. */
    NONE
}
