package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.LockView.Standing;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What a ticket's value says: lines of text, readable with {@code etcdctl get}. A value that is none of ours, say of Go's
 * mutex, is an exclusive demand of somebody unknown. Immutable.
 *
 * @param demand what the ticket asks for
 * @param owner the acquisition, in text form; empty for foreign tickets
 * @param origin where it comes from, for people
 * @param since when it was written, by its client's clock, for people
 * @param standing whether its holder has released it, for people
 */
record TicketNote(Demand demand, String owner, Optional<Origin> origin, Optional<Instant> since, Standing standing) {

    TicketNote(Demand demand, String owner, Optional<Origin> origin, Optional<Instant> since) {
        this(demand, owner, origin, since, Standing.HELD);
    }

    private static final String HEAD = "holdfast 1";
    private static final TicketNote FOREIGN =
            new TicketNote(Demand.exclusive(), "", Optional.empty(), Optional.empty());

    ByteString toValue() {
        StringBuilder text = new StringBuilder(HEAD);
        line(text, "demand", demandText(demand));
        line(text, "owner", owner);
        if (standing == Standing.LINGERING) {
            line(text, "released", "true");
        }
        since.ifPresent(instant -> line(text, "since", instant.toString()));
        origin.ifPresent(from -> {
            line(text, "client", from.client());
            line(text, "host", from.host());
            line(text, "pid", Long.toString(from.pid()));
            line(text, "thread", from.thread());
        });
        return ByteString.copyFromUtf8(text.toString());
    }

    static TicketNote of(ByteString value) {
        String text = value.toStringUtf8();
        if (!text.startsWith(HEAD + "\n")) {
            return FOREIGN;
        }
        try {
            Map<String, String> lines = new HashMap<>();
            for (String line : text.split("\n")) {
                int equals = line.indexOf('=');
                if (equals > 0) {
                    lines.put(
                            line.substring(0, equals),
                            URLDecoder.decode(line.substring(equals + 1), StandardCharsets.UTF_8));
                }
            }
            Optional<Origin> origin = Optional.ofNullable(lines.get("client"))
                    .map(client -> new Origin(
                            client,
                            lines.getOrDefault("host", ""),
                            Long.parseLong(lines.getOrDefault("pid", "0")),
                            lines.getOrDefault("thread", "")));
            return new TicketNote(
                    demand(lines.getOrDefault("demand", "")),
                    lines.getOrDefault("owner", ""),
                    origin,
                    Optional.ofNullable(lines.get("since")).map(Instant::parse),
                    lines.containsKey("released") ? Standing.LINGERING : Standing.HELD);
        } catch (RuntimeException e) {
            // Whatever it is, it stands in line: the strictest reading is the safe one.
            return FOREIGN;
        }
    }

    TicketNote withDemand(Demand newDemand) {
        return new TicketNote(newDemand, owner, origin, since, standing);
    }

    TicketNote lingering() {
        return new TicketNote(demand, owner, origin, since, Standing.LINGERING);
    }

    private static String demandText(Demand demand) {
        if (demand instanceof Demand.Permits permits) {
            return "permits " + permits.count() + " " + permits.total();
        }
        return demand instanceof Demand.Shared ? "shared" : "exclusive";
    }

    private static Demand demand(String text) {
        String[] words = text.split(" ");
        return switch (words[0]) {
            case "shared" -> Demand.shared();
            case "permits" -> Demand.permits(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
            default -> Demand.exclusive();
        };
    }

    private static void line(StringBuilder text, String key, String value) {
        text.append('\n').append(key).append('=').append(readable(value));
    }

    /** Escaped, but for the blanks and marks that are common and harmless. */
    private static String readable(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8)
                .replace("%3A", ":")
                .replace("%2F", "/");
    }
}
