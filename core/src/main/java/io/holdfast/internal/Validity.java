package io.holdfast.internal;

import java.time.Duration;

/** The local arithmetic of ttls: when a claim ends here, safely before it can end at the store. */
final class Validity {

    private static final long FIXED_MARGIN_NANOS = Duration.ofMillis(2).toNanos();

    private final long minMarginNanos;

    Validity(Duration minMargin) {
        this.minMarginNanos = minMargin.toNanos();
    }

    /** The ttl to ask for so that a lease is valid for at least that long. */
    Duration ttlFor(Duration valid) {
        long margin = Math.max(valid.toNanos() / 99 + 2 * FIXED_MARGIN_NANOS, minMarginNanos);
        return valid.plusNanos(margin);
    }

    /** {@code base + ttl − margin}; the margin is 1 % of the ttl for clocks that drift apart, and 2 ms. */
    long endNanos(long baseNanos, Duration ttl) {
        long ttlNanos = ttl.toNanos();
        long margin = Math.max(ttlNanos / 100 + FIXED_MARGIN_NANOS, minMarginNanos);
        return baseNanos + ttlNanos - margin;
    }
}
