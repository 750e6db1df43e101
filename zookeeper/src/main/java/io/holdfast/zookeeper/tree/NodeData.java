package io.holdfast.zookeeper.tree;

import io.holdfast.LockView.Origin;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.support.OriginText;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Optional;

/**
 * What a node says to people who look: nothing here decides who holds a lock. Three lines: what this is, who, and the ttl.
 *
 * @param origin who asks
 * @param ttl how long its session outlives the last sign of life
 */
public record NodeData(Origin origin, Duration ttl) {

    private static final String FIRST_LINE = "holdfast 2";

    public static byte[] of(Ticket ticket) {
        return String.join(
                        "\n",
                        FIRST_LINE,
                        OriginText.write(ticket.origin()),
                        ticket.ttl().toString())
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Empty for the data of a foreign client. */
    public static Optional<NodeData> parse(byte[] data) {
        String[] lines = new String(data, StandardCharsets.UTF_8).split("\n");
        if (lines.length != 3 || !lines[0].equals(FIRST_LINE)) {
            return Optional.empty();
        }
        try {
            Duration ttl = Duration.parse(lines[2]);
            return OriginText.read(lines[1]).map(origin -> new NodeData(origin, ttl));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }
}
