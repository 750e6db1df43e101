package io.holdfast.etcd.layout;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.LockView.Standing;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.support.OriginText;
import java.time.Instant;
import java.util.Optional;

/**
 * What a ticket's value says: five lines of text, and a sixth once it is released, readable with {@code etcdctl get}. A value
 * that is none of ours, say of Go's mutex, is an exclusive demand of somebody unknown. Immutable.
 *
 * @param demand what the ticket asks for
 * @param owner the acquisition, in text form; empty for foreign tickets
 * @param since when it was written, by its client's clock, for people
 * @param origin where it comes from, for people
 * @param standing whether its holder has released it, for people
 */
public record TicketValue(
        Demand demand, String owner, Optional<Instant> since, Optional<Origin> origin, Standing standing) {

    private static final String FIRST_LINE = "holdfast 2";
    private static final String RELEASED = "released";
    private static final TicketValue FOREIGN =
            new TicketValue(Demand.exclusive(), "", Optional.empty(), Optional.empty(), Standing.HELD);

    public static TicketValue of(Ticket ticket, Instant since, Standing standing) {
        return new TicketValue(
                ticket.demand(), ticket.owner().toString(), Optional.of(since), Optional.of(ticket.origin()), standing);
    }

    public static TicketValue read(ByteString value) {
        String[] lines = value.toStringUtf8().split("\n");
        if (lines.length < 5 || !lines[0].equals(FIRST_LINE)) {
            return FOREIGN;
        }
        try {
            boolean released = lines.length > 5 && lines[5].equals(RELEASED);
            return new TicketValue(
                    demand(lines[1]),
                    lines[2],
                    Optional.of(Instant.parse(lines[3])),
                    OriginText.read(lines[4]),
                    released ? Standing.LINGERING : Standing.HELD);
        } catch (RuntimeException e) {
            // Whatever it is, it is in the queue: the strictest reading is the safe one.
            return FOREIGN;
        }
    }

    public ByteString write() {
        String text = String.join(
                "\n",
                FIRST_LINE,
                demandText(demand),
                owner,
                since.map(Instant::toString).orElse(""),
                origin.map(OriginText::write).orElse(""));
        return ByteString.copyFromUtf8(standing == Standing.LINGERING ? text + "\n" + RELEASED : text);
    }

    public TicketValue withDemand(Demand newDemand) {
        return new TicketValue(newDemand, owner, since, origin, standing);
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
