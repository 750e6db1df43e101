package io.holdfast.bench.report;

import java.util.Locale;
import java.util.OptionalDouble;

/** Figures for people: three significant digits, a unit that fits. */
public final class Text {

    public static final String NONE = "–";

    private Text() {}

    public static String micros(OptionalDouble value) {
        return value.isPresent() ? micros(value.getAsDouble()) : NONE;
    }

    public static String micros(double micros) {
        if (micros < 1) {
            return Math.round(micros * 1000) + " ns";
        }
        if (micros < 1000) {
            return digits(micros) + " µs";
        }
        return micros < 1e6 ? digits(micros / 1e3) + " ms" : digits(micros / 1e6) + " s";
    }

    public static String rate(OptionalDouble value) {
        return value.isPresent() ? number(value.getAsDouble()) : NONE;
    }

    /** With thousands set apart. */
    public static String number(double value) {
        if (value >= 1000) {
            double unit = Math.pow(10, Math.floor(Math.log10(value)) - 2);
            return String.format(Locale.ROOT, "%,d", Math.round(Math.round(value / unit) * unit));
        }
        return digits(value);
    }

    public static String number(OptionalDouble value) {
        return value.isPresent() ? number(value.getAsDouble()) : NONE;
    }

    public static String percent(OptionalDouble share) {
        return share.isPresent() ? Math.round(share.getAsDouble() * 100) + " %" : NONE;
    }

    /** For the ticks of an axis. */
    public static String tick(double value) {
        if (value >= 1e6) {
            return trimmed(value / 1e6) + "M";
        }
        return value >= 1e4 ? trimmed(value / 1e3) + "k" : value >= 1000 ? number(value) : trimmed(value);
    }

    private static String trimmed(double value) {
        return value == Math.rint(value) ? Long.toString(Math.round(value)) : String.format(Locale.ROOT, "%.4s", value);
    }

    private static String digits(double value) {
        int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }

    /** For HTML and SVG. */
    public static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
