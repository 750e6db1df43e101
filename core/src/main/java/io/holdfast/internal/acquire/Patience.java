package io.holdfast.internal.acquire;

import java.time.Duration;

/** How much a caller puts up with. */
public enum Patience {
    /** Asks once. */
    ONCE,
    /** Waits until a deadline. */
    LIMITED,
    /** Waits as long as it takes. */
    ENDLESS;

    public static Patience of(Duration maxWait) {
        return maxWait.isNegative() || maxWait.isZero() ? ONCE : LIMITED;
    }
}
