package io.holdfast.spi;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Writes durations for messages as people write them: {@code 250 ms}, {@code 1.5 s}, {@code 1 h 30 min}. */
public final class DurationText {

    private DurationText() {}

    public static String of(Duration duration) {
        if (duration.isNegative()) {
            return "-" + of(duration.negated());
        }
        if (duration.compareTo(Duration.ofMinutes(1)) < 0) {
            return underAMinute(duration);
        }
        List<String> parts = new ArrayList<>();
        add(parts, duration.toDays(), duration.toDays() == 1 ? "day" : "days");
        add(parts, duration.toHoursPart(), "h");
        add(parts, duration.toMinutesPart(), "min");
        Duration rest = Duration.ofSeconds(duration.toSecondsPart(), duration.getNano());
        if (!rest.isZero()) {
            parts.add(underAMinute(rest));
        }
        return String.join(" ", parts);
    }

    private static void add(List<String> parts, long amount, String unit) {
        if (amount > 0) {
            parts.add(amount + " " + unit);
        }
    }

    private static String underAMinute(Duration duration) {
        if (duration.toMillis() >= 1000) {
            return decimal(duration.toMillis(), 1000) + " s";
        }
        return duration.toMillis() > 0 || duration.isZero()
                ? decimal(duration.toNanos() / 1000, 1000) + " ms"
                : decimal(duration.toNanos(), 1000) + " \u00b5s";
    }

    private static String decimal(long amount, int unit) {
        return amount % unit == 0
                ? Long.toString(amount / unit)
                : amount / unit + "." + String.format("%03d", amount % unit).replaceAll("0+$", "");
    }
}
