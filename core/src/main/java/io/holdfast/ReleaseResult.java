package io.holdfast;

/** How a release went. */
public enum ReleaseResult {
    /** The lock is free, or on its way to the next waiter. */
    RELEASED,
    /** The lease had ended before: the protected work may have overlapped with a successor's. */
    ALREADY_LOST,
    /** The store did not answer: the release is repeated in the background until it is known or the ttl has passed. */
    PENDING
}
