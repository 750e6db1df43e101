package io.holdfast.internal.ticket;

import io.holdfast.Demand;
import io.holdfast.LockOptions;
import io.holdfast.LockView.Origin;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
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

    /** One who asks through this client; parameters as of {@link Origin}. */
    public Origin origin(String thread, Optional<String> note, List<String> holds) {
        return new Origin(clientName, host, pid, thread, note, holds);
    }

    /**
     * A new ticket. Nothing has been sent yet.
     *
     * @param name the lock
     * @param demand how it is to be held
     * @param options for how long, and whether it is renewed once it is held
     * @param origin who asks, for people
     * @param user who waits for it
     * @param nowNanos just before it is asked for
     */
    public KeptTicket open(
            String name, Demand demand, LockOptions options, Origin origin, TicketUser user, long nowNanos) {
        return new KeptTicket(
                this,
                listener -> new Ticket(
                        name,
                        owners.next(),
                        demand,
                        options.ttl(),
                        origin,
                        validity,
                        listener,
                        nowNanos,
                        options.renewal()),
                user);
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
