package io.holdfast.internal.acquire;

import io.holdfast.spi.Deadline;

/**
 * How long a caller waits for a lock. Immutable.
 *
 * @param limit what ends its wait
 * @param deadline when its wait ends, trips to the store included; far away unless that is its limit
 */
public record Patience(Limit limit, Deadline deadline) {

    enum Limit {
        /** The first answer: it asks once. Its request has the usual time. */
        ONE_TRY,
        DEADLINE,
        /** Nothing: it waits as long as it takes. */
        NONE
    }

    public boolean isForOneTry() {
        return limit == Limit.ONE_TRY;
    }

    public boolean isLimited() {
        return limit == Limit.DEADLINE;
    }

    /** Whether the time is over that the caller has set. */
    public boolean isOver() {
        return deadline.hasPassed();
    }
}
