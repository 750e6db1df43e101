package io.holdfast.zookeeper;

import io.holdfast.LockView.Origin;
import io.holdfast.spi.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What a node says to people who look: nothing here decides who holds a lock.
 *
 * @param origin who asks
 * @param ttl how long its session outlives the last sign of life
 */
record NodeData(Origin origin, Duration ttl) {

    private static final String FIRST_LINE = "holdfast 1";

    static byte[] of(Request request) {
        Origin origin = request.origin();
        return (FIRST_LINE
                        + "\nclient=" + escape(origin.client())
                        + "\nhost=" + escape(origin.host())
                        + "\npid=" + origin.pid()
                        + "\nthread=" + escape(origin.thread())
                        + "\nttl=" + request.ttl()
                        + "\n")
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Empty for the data of a foreign client. */
    static Optional<NodeData> parse(byte[] data) {
        String[] lines = new String(data, StandardCharsets.UTF_8).split("\n");
        if (!lines[0].equals(FIRST_LINE)) {
            return Optional.empty();
        }
        Map<String, String> values = new HashMap<>();
        for (String line : lines) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                values.put(line.substring(0, equals), unescape(line.substring(equals + 1)));
            }
        }
        try {
            Origin origin = new Origin(
                    values.getOrDefault("client", ""),
                    values.getOrDefault("host", ""),
                    Long.parseLong(values.getOrDefault("pid", "0")),
                    values.getOrDefault("thread", ""));
            return Optional.of(new NodeData(origin, Duration.parse(values.getOrDefault("ttl", "PT0S"))));
        } catch (NumberFormatException | DateTimeParseException e) {
            return Optional.empty();
        }
    }

    private static String escape(String value) {
        return value.replace("\\", "\\\\").replace("\n", "\\n");
    }

    private static String unescape(String value) {
        StringBuilder plain = new StringBuilder(value.length());
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '\\' && i + 1 < value.length()) {
                char next = value.charAt(++i);
                plain.append(next == 'n' ? '\n' : next);
            } else {
                plain.append(c);
            }
        }
        return plain.toString();
    }
}
