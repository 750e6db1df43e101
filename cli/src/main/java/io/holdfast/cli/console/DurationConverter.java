package io.holdfast.cli.console;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code 500ms}, {@code 2s}, {@code 1.5m}, {@code 1h}, {@code 7d}; a bare number is seconds. */
public final class DurationConverter implements ITypeConverter<Duration> {

    private static final Pattern AMOUNT = Pattern.compile("(\\d+(?:\\.\\d*)?|\\.\\d+)(ms|s|m|h|d)?");
    private static final BigDecimal LONGEST_NANOS = BigDecimal.valueOf(Long.MAX_VALUE);

    @Override
    public Duration convert(String text) {
        Matcher matcher = AMOUNT.matcher(text);
        if (matcher.matches()) {
            BigDecimal nanos = new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(nanosOf(matcher.group(2))));
            if (nanos.compareTo(LONGEST_NANOS) <= 0) {
                return Duration.ofNanos(nanos.longValue());
            }
        }
        throw new TypeConversionException("'" + text + "' is not a duration such as 500ms, 2s, 1.5m, 1h or 7d");
    }

    private static long nanosOf(@Nullable String unit) {
        return switch (unit == null ? "s" : unit) {
            case "ms" -> 1_000_000L;
            case "m" -> 60_000_000_000L;
            case "h" -> 3_600_000_000_000L;
            case "d" -> 86_400_000_000_000L;
            default -> 1_000_000_000L;
        };
    }
}
