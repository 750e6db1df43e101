package io.holdfast.spi.support;

import io.holdfast.LockView.Origin;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An origin as one line, {@code client | host | pid | thread}, and behind it {@code | note | held, held} if it has a note or
 * holds other locks: readable by people who look into the store. At most 900 characters, in which note and held locks have at
 * most 256 bytes: a held lock whose name does not fit is left out.
 */
public final class OriginText {

    private static final String SEPARATOR = " | ";
    private static final String NAME_SEPARATOR = ", ";
    private static final int PLAIN_PARTS = 4;
    private static final int ALL_PARTS = 6;
    private static final int LONGEST_PART = 200;
    /** Of note and held locks together. */
    private static final int LONGEST_WORK_BYTES = 256;

    private static final PercentEncoding NAMES =
            new PercentEncoding(c -> c != '|' && c != ',' && !Character.isISOControl(c));

    private OriginText() {}

    public static String write(Origin origin) {
        return part(origin.client())
                + SEPARATOR
                + part(origin.host())
                + SEPARATOR
                + origin.pid()
                + SEPARATOR
                + writeWork(origin);
    }

    /** Without client, host and process: {@code thread}, or {@code thread | note | held, held}. */
    public static String writeWork(Origin origin) {
        String thread = part(origin.thread());
        return origin.note().isEmpty() && origin.holds().isEmpty() ? thread : thread + noteAndHolds(origin);
    }

    /** Empty for what somebody else wrote. */
    public static Optional<Origin> read(String text) {
        String[] parts = text.split(" \\| ", -1);
        if (parts.length != PLAIN_PARTS && parts.length != ALL_PARTS) {
            return Optional.empty();
        }
        try {
            return Optional.of(origin(parts[0], parts[1], Long.parseLong(parts[2]), parts, PLAIN_PARTS - 1));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Reads what {@link #writeWork} wrote. */
    public static Origin read(String client, String host, long pid, String work) {
        return work.contains(SEPARATOR)
                ? origin(client, host, pid, work.split(" \\| ", -1), 0)
                : new Origin(client, host, pid, work);
    }

    private static Origin origin(String client, String host, long pid, String[] parts, int thread) {
        if (parts.length - thread != 1 + ALL_PARTS - PLAIN_PARTS) {
            return new Origin(client, host, pid, parts[thread]);
        }
        String note = parts[thread + 1];
        return new Origin(
                client,
                host,
                pid,
                parts[thread],
                note.isEmpty() ? Optional.empty() : Optional.of(note),
                names(parts[thread + 2]));
    }

    private static String noteAndHolds(Origin origin) {
        String note = origin.note().map(OriginText::part).orElse("");
        StringBuilder text = new StringBuilder(SEPARATOR).append(note).append(SEPARATOR);
        int bytesLeft = LONGEST_WORK_BYTES - bytes(text);
        String before = "";
        for (String name : origin.holds()) {
            String held = before + NAMES.encode(name);
            if (bytes(held) <= bytesLeft) {
                text.append(held);
                bytesLeft -= bytes(held);
                before = NAME_SEPARATOR;
            }
        }
        return text.toString();
    }

    private static List<String> names(String text) {
        List<String> names = new ArrayList<>();
        if (!text.isEmpty()) {
            for (String name : text.split(NAME_SEPARATOR, -1)) {
                NAMES.decode(name).ifPresent(names::add);
            }
        }
        return names;
    }

    private static int bytes(CharSequence text) {
        return text.toString().getBytes(StandardCharsets.UTF_8).length;
    }

    private static String part(String text) {
        if (isPlain(text)) {
            return text;
        }
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

    /** Asked of every acquisition, so a loop and no stream. */
    private static boolean isPlain(String text) {
        if (text.length() > LONGEST_PART) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '|' || Character.isISOControl(c)) {
                return false;
            }
        }
        return true;
    }
}
