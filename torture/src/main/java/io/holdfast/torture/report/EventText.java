package io.holdfast.torture.report;

import io.holdfast.torture.history.Event;
import java.util.Locale;

/** An event on one line, for people. */
final class EventText {

    private EventText() {}

    /** @param startNanos what times are counted from */
    static String of(Event event, long startNanos) {
        StringBuilder text =
                new StringBuilder(lower(event.operation())).append(' ').append(lower(event.phase()));
        if (event.demand() != null) {
            text.append(' ').append(event.demand());
        }
        if (event.token() != null) {
            text.append(", token ").append(event.token());
        }
        if (event.sentNanos() != null) {
            text.append(", sent at ").append(seconds(event.sentNanos() - startNanos));
        }
        if (event.untilNanos() != null) {
            text.append(", valid until ").append(seconds(event.untilNanos() - startNanos));
        }
        if (event.guard() != null) {
            text.append(", ").append(lower(event.guard()));
        }
        if (event.value() != null) {
            text.append(", '").append(event.value()).append('\'');
        }
        if (event.previous() != null) {
            text.append(" after '").append(event.previous()).append('\'');
        }
        if (event.detail() != null) {
            text.append(", ").append(event.detail());
        }
        if (event.acquisition() != null) {
            text.append("  [").append(event.acquisition()).append(']');
        }
        return text.toString();
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.3f s", nanos / 1e9);
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
