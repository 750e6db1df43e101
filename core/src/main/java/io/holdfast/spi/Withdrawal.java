package io.holdfast.spi;

/** What a store says when asked to undo a request. */
public enum Withdrawal {
    /** There was a ticket or a grant of it, now gone for good. */
    REMOVED,
    /** There is nothing of it now; if its request is still on the way, there may be later. */
    NOT_FOUND
}
