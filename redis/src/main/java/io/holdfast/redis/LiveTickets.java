package io.holdfast.redis;

import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Tokens;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The tickets of this client by owner, waiting and held: messages of the server name owners. A ticket is here from before its
 * first request is sent until it is refused, released, withdrawn or gone. Thread-safe.
 */
final class LiveTickets {

    /** How many are added between two looks for tickets whose deadline ended them, of which nobody tells the store. */
    private static final int SWEEP_EVERY = 512;
    /** So many tickets behind a withdrawn one, and so many locks, are looked at for others to withdraw in the same request. */
    private static final int NEIGHBOURS = 200;

    private final Map<OwnerId, Ticket> live = new ConcurrentHashMap<>();
    /** Those that wait, by lock, the oldest first. */
    private final Map<String, NavigableMap<Long, Ticket>> waiting = new ConcurrentHashMap<>();

    private final AtomicInteger added = new AtomicInteger();

    void add(Ticket ticket) {
        live.put(ticket.owner(), ticket);
        if (added.incrementAndGet() % SWEEP_EVERY == 0) {
            live.values().stream()
                    .filter(known -> known.state() == Ticket.State.ENDED)
                    .forEach(this::forget);
        }
    }

    Optional<Ticket> find(OwnerId owner) {
        return Optional.ofNullable(live.get(owner));
    }

    /** Those the server has confirmed to be in its queue, the oldest first. */
    List<Ticket> queued() {
        return live.values().stream()
                .filter(Ticket::isQueued)
                .sorted(Comparator.comparing(ticket -> ticket.owner().number()))
                .toList();
    }

    List<Ticket> held() {
        return live.values().stream()
                .filter(ticket -> ticket.state() == Ticket.State.HELD)
                .toList();
    }

    /** The server has put it into its queue. */
    void waits(Ticket ticket) {
        waiting.compute(ticket.name(), (name, known) -> {
            NavigableMap<Long, Ticket> tickets = known != null ? known : new ConcurrentSkipListMap<>();
            tickets.put(ticket.owner().number(), ticket);
            return tickets;
        });
        if (ticket.state() != Ticket.State.WAITING) {
            waitsNoLonger(ticket);
        }
    }

    /**
     * Some that came soon after this one and ended while they waited, so that they will be withdrawn too: in the queue, as the server said,
     * and never granted.
     */
    List<Ticket> givenUpAfter(Ticket ticket, int most) {
        NavigableMap<Long, Ticket> tickets = waiting.get(ticket.name());
        return tickets == null
                ? List.of()
                : givenUp(tickets.tailMap(ticket.owner().number(), false), most);
    }

    /** The same of some other locks, lock by lock. */
    List<List<Ticket>> givenUpElsewhere(String name, int most) {
        return waiting.entrySet().stream()
                .limit(NEIGHBOURS)
                .filter(other -> !other.getKey().equals(name))
                .map(other -> givenUp(other.getValue(), most))
                .filter(some -> !some.isEmpty())
                .toList();
    }

    private static List<Ticket> givenUp(NavigableMap<Long, Ticket> tickets, int most) {
        return tickets.values().stream()
                .limit(NEIGHBOURS)
                .filter(other -> other.state() == Ticket.State.ENDED && other.storeToken() == Tokens.NONE)
                .filter(other ->
                        HolderCheck.of(other).flatMap(HolderCheck::withdrawal).isEmpty())
                .limit(most)
                .toList();
    }

    /** Whether no older ticket of this client waits for the same lock. */
    boolean isOldestWaiting(Ticket ticket) {
        return oldestWaiting(ticket.name()).map(oldest -> oldest == ticket).orElse(true);
    }

    /** Without those whose deadline ended them, of which nobody told the store: they check nothing any more. */
    private Optional<Ticket> oldestWaiting(String name) {
        return oldestWaiting(name, 1).stream().findFirst();
    }

    List<Ticket> oldestWaiting(String name, int most) {
        NavigableMap<Long, Ticket> tickets = waiting.get(name);
        return tickets == null
                ? List.of()
                : tickets.values().stream()
                        .filter(ticket -> ticket.state() == Ticket.State.WAITING)
                        .limit(most)
                        .toList();
    }

    /** It is held now, or has ended. Another ticket of this client may have to look after the holder from now on. */
    void waitsNoLonger(Ticket ticket) {
        Optional<HolderCheck> check = HolderCheck.of(ticket);
        if (check.isPresent()) {
            check.get().cancel();
            waiting.computeIfPresent(ticket.name(), (name, tickets) -> {
                tickets.remove(ticket.owner().number(), ticket);
                return tickets.isEmpty() ? null : tickets;
            });
            oldestWaiting(ticket.name()).flatMap(HolderCheck::of).ifPresent(HolderCheck::checkIfSkipped);
        }
    }

    /** A grant announced to this ticket from now on is given back at once. */
    void forget(Ticket ticket) {
        live.remove(ticket.owner(), ticket);
        waitsNoLonger(ticket);
    }
}
