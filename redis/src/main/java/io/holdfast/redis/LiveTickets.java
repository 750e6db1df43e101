package io.holdfast.redis;

import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The tickets of this client by owner, waiting and held: messages of the server name owners. A ticket is here from before its
 * first request is sent until it is refused, released, withdrawn or gone. Thread-safe.
 */
final class LiveTickets {

    /** How many are added between two looks for tickets whose deadline ended them, of which nobody tells the store. */
    private static final int SWEEP_EVERY = 512;

    private final Map<OwnerId, Ticket> live = new ConcurrentHashMap<>();
    private final AtomicInteger added = new AtomicInteger();

    void add(Ticket ticket) {
        live.put(ticket.owner(), ticket);
        if (added.incrementAndGet() % SWEEP_EVERY == 0) {
            live.values().removeIf(known -> known.state() == Ticket.State.ENDED);
        }
    }

    Optional<Ticket> find(OwnerId owner) {
        return Optional.ofNullable(live.get(owner));
    }

    /** Those the server has confirmed to be in its queue. */
    List<Ticket> queued() {
        return live.values().stream().filter(Ticket::isQueued).toList();
    }

    /** A grant announced to this ticket from now on is given back at once. */
    void forget(Ticket ticket) {
        live.remove(ticket.owner(), ticket);
        HolderCheck.of(ticket).ifPresent(HolderCheck::cancel);
    }
}
