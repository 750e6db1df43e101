package io.holdfast.spi.support;

import io.holdfast.LockView.Origin;
import java.util.Optional;

/** An origin as one line, {@code client | host | pid | thread}: readable by people who look into the store. */
public final class OriginText {

    private static final String SEPARATOR = " | ";
    private static final int PARTS = 4;
    private static final int LONGEST_PART = 240;

    private OriginText() {}

    public static String write(Origin origin) {
        return String.join(
                SEPARATOR,
                part(origin.client()),
                part(origin.host()),
                Long.toString(origin.pid()),
                part(origin.thread()));
    }

    /** Empty for what somebody else wrote. */
    public static Optional<Origin> read(String text) {
        String[] parts = text.split(" \\| ", -1);
        try {
            return parts.length == PARTS
                    ? Optional.of(new Origin(parts[0], parts[1], Long.parseLong(parts[2]), parts[3]))
                    : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static String part(String text) {
        StringBuilder cleaned = new StringBuilder();
        text.codePoints().limit(LONGEST_PART).forEach(c -> {
            if (c == '|') {
                cleaned.append('/');
            } else {
                cleaned.appendCodePoint(Character.isISOControl(c) ? ' ' : c);
            }
        });
        return cleaned.toString();
    }
}
