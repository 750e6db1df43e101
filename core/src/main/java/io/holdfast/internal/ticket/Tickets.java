package io.holdfast.internal.ticket;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.Renewal;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Makes the tickets of one client, each with an owner of its own. Thread-safe. */
public final class Tickets {

    private final OwnerId.Source owners;
    private final String clientName;
    private final String host;
    private final long pid = ProcessHandle.current().pid();
    private final TimeSource time;
    private final Validity validity;
    private final Keeper keeper;
    private final Cleanup cleanup;

    public Tickets(
            OwnerId.Source owners,
            String clientName,
            String host,
            TimeSource time,
            Validity validity,
            Keeper keeper,
            Cleanup cleanup) {
        this.owners = owners;
        this.clientName = clientName;
        this.host = host;
        this.time = time;
        this.validity = validity;
        this.keeper = keeper;
        this.cleanup = cleanup;
    }

    /**
     * What a ticket asks for.
     *
     * @param name the lock
     * @param demand how it is to be held
     * @param ttl how long the store keeps it without hearing from us
     * @param renewal whether it is renewed once it is held
     * @param origin who asks, for people
     */
    public record Spec(String name, Demand demand, Duration ttl, Renewal renewal, Origin origin) {}

    /** One who asks through this client; parameters as of {@link Origin}. */
    public Origin origin(String thread, Optional<String> note, List<String> holds) {
        return new Origin(clientName, host, pid, thread, note, holds);
    }

    /** A new ticket. Nothing has been sent yet. */
    public KeptTicket open(Spec spec, TicketUser user) {
        return new KeptTicket(spec, this, user);
    }

    Ticket newTicket(Spec spec, Ticket.Listener listener) {
        return new Ticket(spec.name(), owners.next(), spec.demand(), spec.ttl(), spec.origin(), validity, listener);
    }

    TimeSource time() {
        return time;
    }

    Keeper keeper() {
        return keeper;
    }

    Cleanup cleanup() {
        return cleanup;
    }
}
