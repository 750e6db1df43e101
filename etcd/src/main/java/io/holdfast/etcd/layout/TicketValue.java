package io.holdfast.etcd.layout;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.support.OriginText;
import java.time.Instant;
import java.util.Optional;

/**
 * What a ticket's value says: five lines of text, readable with {@code etcdctl get}. A value that is none of ours, say of Go's
 * mutex, is an exclusive demand of somebody unknown. Immutable.
 *
 * @param demand what the ticket asks for
 * @param owner the acquisition, in text form; empty for foreign tickets
 * @param since when it was written, by its client's clock, for people
 * @param origin where it comes from, for people
 */
public record TicketValue(Demand demand, String owner, Optional<Instant> since, Optional<Origin> origin) {

    private static final String FIRST_LINE = "holdfast 2";
    private static final int LINES = 5;
    private static final TicketValue FOREIGN =
            new TicketValue(Demand.exclusive(), "", Optional.empty(), Optional.empty());

    public static TicketValue of(Ticket ticket, Instant since) {
        return new TicketValue(
                ticket.demand(), ticket.owner().toString(), Optional.of(since), Optional.of(ticket.origin()));
    }

    public ByteString toValue() {
        return ByteString.copyFromUtf8(String.join(
                "\n",
                FIRST_LINE,
                demandText(demand),
                owner,
                since.map(Instant::toString).orElse(""),
                origin.map(OriginText::write).orElse("")));
    }

    public static TicketValue of(ByteString value) {
        String[] lines = value.toStringUtf8().split("\n", -1);
        if (lines.length != LINES || !lines[0].equals(FIRST_LINE)) {
            return FOREIGN;
        }
        try {
            return new TicketValue(
                    demand(lines[1]), lines[2], Optional.of(Instant.parse(lines[3])), OriginText.read(lines[4]));
        } catch (RuntimeException e) {
            // Whatever it is, it is in the queue: the strictest reading is the safe one.
            return FOREIGN;
        }
    }

    public TicketValue withDemand(Demand newDemand) {
        return new TicketValue(newDemand, owner, since, origin);
    }

    public boolean isForeign() {
        return owner.isEmpty();
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
}
