package io.holdfast.bench;

import java.time.Duration;

/**
 * How long runs take.
 *
 * @param measured how long a run is measured
 * @param slice how often its rate is looked at while it warms up
 * @param settle how long a load runs at least before it is measured
 * @param patience how long it may take at most until its rate is steady
 */
public record Pace(Duration measured, Duration slice, Duration settle, Duration patience) {

    /** Steady means that the rates of this many slices differ by no more than {@link #TOLERANCE}. */
    public static final int SLICES = 3;

    public static final double TOLERANCE = 0.15;

    public static Pace ofSeconds(double seconds) {
        long millis = Math.max(100, Math.round(seconds * 1000));
        return new Pace(
                Duration.ofMillis(millis),
                Duration.ofMillis(Math.max(50, Math.min(250, millis / 8))),
                Duration.ofMillis(Math.min(1000, millis / 4)),
                Duration.ofMillis(millis));
    }

    /** The same with a longer warm-up. */
    public Pace warmingUp(Duration atLeast, Duration atMost) {
        return new Pace(measured, slice, atLeast, atMost);
    }
}
