package io.holdfast.redis;

import io.holdfast.LockView.Origin;
import java.util.Optional;

/** Writes where a request comes from into one field of a holder or ticket, and reads it back. */
final class Origins {

    private static final char SEPARATOR = '\u001f';

    private Origins() {}

    static String write(Origin origin) {
        return clean(origin.client())
                + SEPARATOR
                + clean(origin.host())
                + SEPARATOR
                + origin.pid()
                + SEPARATOR
                + clean(origin.thread());
    }

    static Optional<Origin> read(String text) {
        String[] parts = text.split(String.valueOf(SEPARATOR), -1);
        if (parts.length != 4) {
            return Optional.empty();
        }
        try {
            return Optional.of(new Origin(parts[0], parts[1], Long.parseLong(parts[2]), parts[3]));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static String clean(String part) {
        return part.replace(SEPARATOR, ' ');
    }
}
