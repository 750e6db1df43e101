package io.holdfast.spi;

import java.time.Duration;

/** One moment by which something must be over, handed through every layer unchanged. Immutable. */
public final class Deadline {

    /** Far enough for "never" (146 years), near enough that comparing two times does not overflow. */
    public static final long FAR_NANOS = Long.MAX_VALUE / 2;

    private static final long NEVER_SECONDS = Duration.ofNanos(FAR_NANOS).getSeconds();

    private final TimeSource time;
    private final long atNanos;

    private Deadline(TimeSource time, long atNanos) {
        this.time = time;
        this.atNanos = atNanos;
    }

    public static Deadline after(TimeSource time, Duration wait) {
        return new Deadline(time, time.nanoTime() + nanosOf(wait));
    }

    /** As {@link #after}, for those who have just looked at the clock. */
    public static Deadline after(TimeSource time, long nowNanos, Duration wait) {
        return new Deadline(time, nowNanos + nanosOf(wait));
    }

    public static Deadline never(TimeSource time) {
        return new Deadline(time, time.nanoTime() + FAR_NANOS);
    }

    /** This deadline, or the moment {@code longest} from now if that is sooner. */
    public Deadline within(Duration longest) {
        return within(longest, time.nanoTime());
    }

    /** As {@link #within(Duration)}, for those who have just looked at the clock. */
    public Deadline within(Duration longest, long nowNanos) {
        long limit = nowNanos + nanosOf(longest);
        return limit - atNanos < 0 ? new Deadline(time, limit) : this;
    }

    /** In {@link TimeSource#nanoTime} terms. */
    public long atNanos() {
        return atNanos;
    }

    /** Zero once it has passed. */
    public long remainingNanos() {
        return Math.max(0, atNanos - time.nanoTime());
    }

    public Duration remaining() {
        return Duration.ofNanos(remainingNanos());
    }

    public boolean hasPassed() {
        return atNanos - time.nanoTime() <= 0;
    }

    /** A duration as nanoseconds, cut to what a deadline can express: adding it to a time does not overflow. */
    public static long nanosOf(Duration duration) {
        long seconds = duration.getSeconds();
        if (seconds >= NEVER_SECONDS) {
            return FAR_NANOS;
        }
        return seconds <= -NEVER_SECONDS ? -FAR_NANOS : duration.toNanos();
    }
}
