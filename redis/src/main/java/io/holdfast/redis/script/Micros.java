package io.holdfast.redis.script;

import java.time.Duration;

/** Times as scripts reckon: microseconds. */
public final class Micros {

    private Micros() {}

    public static String text(Duration duration) {
        return String.valueOf(duration.toNanos() / 1000);
    }

    public static Duration duration(long micros) {
        return Duration.ofNanos(micros * 1000);
    }
}
