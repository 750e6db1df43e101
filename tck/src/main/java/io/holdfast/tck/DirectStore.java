package io.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import io.holdfast.tck.DirectTicket.Told;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** Talks to a client's store as its engine does, but without the engine: nothing is renewed, repeated or undone. */
final class DirectStore {

    /** Beyond the numbers the client's own engine uses. */
    private final AtomicLong number = new AtomicLong(1_000_000);

    private final LockStore store;
    private final StoreContext context;

    DirectStore(StoreTap tap) {
        this.store = tap.opened();
        this.context = tap.context();
    }

    LockStore store() {
        return store;
    }

    Deadline deadline() {
        return Deadline.after(context.time(), Duration.ofSeconds(5));
    }

    /** A ticket with an owner of its own. Nothing has been sent yet. */
    DirectTicket ticket(String name, Demand demand, Duration ttl) {
        OwnerId owner = new OwnerId(context.clientId(), number.incrementAndGet());
        Origin origin = new Origin(context.clientName(), "tck-host", 4711, "tck-thread");
        return new DirectTicket(name, owner, demand, ttl, origin);
    }

    /** Asks once. */
    Optional<Refusal> ask(DirectTicket ticket) {
        return store.request(ticket.ticket(), Mode.TRY, deadline());
    }

    DirectTicket grant(String name, Demand demand, Duration ttl) {
        DirectTicket ticket = ticket(name, demand, ttl);
        ask(ticket);
        assertThat(ticket.told()).as("answer to a try at the free lock '%s'", name).isEqualTo(Told.GRANTED);
        return ticket;
    }

    Told renew(DirectTicket ticket, Duration ttl) {
        ticket.forgetWhatItWasTold();
        store.extend(ticket.ticket(), ttl, deadline());
        return ticket.told();
    }

    ReleaseAnswer release(DirectTicket ticket) {
        return store.release(ticket.ticket(), Duration.ZERO, deadline());
    }

    Withdrawal withdraw(DirectTicket ticket) {
        return withdraw(ticket.ticket());
    }

    Withdrawal withdraw(Ticket ticket) {
        return store.withdraw(ticket, deadline());
    }
}
