package io.holdfast.torture.history;

/** What an {@link Event} is about. Unless said otherwise an operation has an invoke and at most one outcome. */
public enum Operation {
    /**
     * A call of acquire. Invoke: demand. Ok: token, and the acquisition holds the lock. Fail: nothing is held (refused, timed
     * out, cancelled, interrupted, client closed). Unknown: the call failed in a way that leaves it open.
     */
    ACQUIRE,
    /** The program gave the waiting acquisition up: cancel, interrupt or close. One event, {@link Phase#INVOKE}. */
    CANCEL,
    /** The lease said it was valid, and until when ({@code untilNanos}). One event, {@link Phase#OK}. */
    VALID,
    /** {@code onLost} was called; detail is the reason's name. One event, {@link Phase#TOLD_LOST}. */
    LOST,
    /** A call of release. Ok: released. Told lost: already lost. Unknown: pending. */
    RELEASE,
    /**
     * A read of the guarded resource: guard, token. Ok: value, the id of the last write seen, empty if there was none. Fail:
     * refused because of its token.
     */
    READ,
    /**
     * A write to the guarded resource: guard, token, value (an id unique in the run) and previous (what the read before it
     * returned). It replaces the resource by "previous and then value". Fail: refused because of its token.
     */
    WRITE,

    /** The store put a request in line. One event, {@link Phase#OK}: owner, demand, sent, ttl. */
    QUEUED,
    /** The store granted a request, in an answer or a push. One event, {@link Phase#OK}: owner, demand, token, sent, ttl. */
    GRANTED,
    /** The store extended a grant or a place in line. One event, {@link Phase#OK}: owner, sent, ttl. */
    RENEWED,
    /** A place in line is gone. One event, {@link Phase#OK}: owner. */
    UNQUEUED,

    /** A fault, from {@link Phase#INVOKE} to {@link Phase#OK}: value names it, detail its target. */
    FAULT,
    /** The machine was too busy to judge waits by, until {@code untilNanos}. One event, {@link Phase#OK}; detail says how. */
    BUSY,
    /** The content of a guarded resource after the run: guard, value as of a read. One event, {@link Phase#OK}. */
    FINAL,
    /**
     * Whether anything is left of a lock once all leases have ended and one ttl has passed. One event: {@link Phase#OK} if
     * not, {@link Phase#FAIL} with what is left as its detail.
     */
    LEFTOVERS
}
