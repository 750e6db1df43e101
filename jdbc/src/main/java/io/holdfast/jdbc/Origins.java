package io.holdfast.jdbc;

import io.holdfast.LockView.Origin;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Origins as one column: {@code client | host | pid | thread}, readable in a query. */
final class Origins {

    private static final String SEPARATOR = " | ";
    private static final int LONGEST_PART = 240;

    private Origins() {}

    static String write(Origin origin) {
        return part(origin.client())
                + SEPARATOR
                + part(origin.host())
                + SEPARATOR
                + origin.pid()
                + SEPARATOR
                + part(origin.thread());
    }

    /** Empty for what somebody else wrote. */
    static Optional<Origin> read(@Nullable String text) {
        if (text == null) {
            return Optional.empty();
        }
        String[] parts = text.split(" \\| ", -1);
        try {
            return parts.length == 4
                    ? Optional.of(new Origin(parts[0], parts[1], Long.parseLong(parts[2]), parts[3]))
                    : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static String part(String text) {
        String oneLine = text.replace('|', '/').replace('\n', ' ').replace('\0', ' ');
        return oneLine.length() <= LONGEST_PART
                ? oneLine
                : oneLine.substring(0, oneLine.offsetByCodePoints(0, oneLine.codePointCount(0, LONGEST_PART)));
    }
}
