package io.holdfast.spi;

import java.time.Duration;

/** The local arithmetic of ttls: when a claim ends here, safely before it can end at the store. Immutable. */
public final class Validity {

    /** For clocks that drift apart: 1 % of the ttl. */
    private static final long MARGIN_PERCENT = 1;

    private static final long FIXED_MARGIN_NANOS = Duration.ofMillis(2).toNanos();

    private final TimeSource time;
    private final long minMarginNanos;

    public Validity(TimeSource time, Duration minMargin) {
        this.time = time;
        this.minMarginNanos = minMargin.toNanos();
    }

    public long nanoTime() {
        return time.nanoTime();
    }

    /** {@code base + ttl − margin}; the margin is 1 % of the ttl and 2 ms, or what the store needs if that is more. */
    public long endNanos(long baseNanos, Duration ttl) {
        long ttlNanos = ttl.toNanos();
        long margin = Math.max(ttlNanos / 100 * MARGIN_PERCENT + FIXED_MARGIN_NANOS, minMarginNanos);
        return baseNanos + ttlNanos - margin;
    }

    /** The ttl to ask for so that a lease is valid for that long: what {@link #endNanos} takes off is added first. */
    public Duration ttlFor(Duration valid) {
        long validNanos = valid.toNanos();
        long withMargin = (validNanos + FIXED_MARGIN_NANOS) / (100 - MARGIN_PERCENT) * 100 + 100;
        return Duration.ofNanos(Math.max(withMargin, validNanos + minMarginNanos));
    }
}
