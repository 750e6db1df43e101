package io.holdfast;

/** Why a lease ended without being released. */
public enum LossReason {
    /** It was not renewed in time: the store was unreachable, or this process paused. */
    EXPIRED,
    /** The store no longer knows it: it forgot, or its session ended. */
    GONE,
    /** An administrator released it by force. */
    FORCED,
    /** It was held for the longest time its options allow. */
    MAX_HOLD,
    /** Its client was closed while the lease was in use. */
    CLOSED
}
