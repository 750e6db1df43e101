package io.holdfast.zookeeper;

import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.KeeperException;

/**
 * Keeps each lock's line as nodes in ZooKeeper's tree. The protocol is told in {@link Place}, what a lease is counted from
 * in {@link Touches}. Thread-safe.
 */
final class ZooKeeperStore implements AdministeredStore {

    private static final int MOST_REMEMBERED = 1_000;

    private final Settings settings;
    private final StoreTraits traits;
    private final Sessions sessions;
    private final Directories directories = new Directories();
    private final LineViews views;
    /** Locks found taken by the last try: the next one looks before it makes a node. */
    private final Set<String> lastSeenTaken = ConcurrentHashMap.newKeySet();

    ZooKeeperStore(Settings settings, StoreTraits traits, StoreContext context) {
        this.settings = settings;
        this.traits = traits;
        this.sessions = new Sessions(settings, context);
        this.views = new LineViews(settings);
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    /**
     * A free lock takes one round trip: the node is made at once, and, by a try, removed if it is not admitted. A lock that
     * was found taken is looked at first, so that those who try again and again cost the servers a read each, not two writes.
     */
    @Override
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        if (mode == Mode.TRY && lastSeenTaken.contains(ticket.name()) && !looksFree(ticket, deadline)) {
            return Optional.of(new Refusal("others are in line"));
        }
        while (true) {
            SessionTickets tickets = sessions.beginRequest(ticket.name(), ticket.ttl());
            try {
                return request(tickets, ticket, mode, deadline);
            } catch (SessionOverException e) {
                if (!e.mayTryAnother() || deadline.hasPassed()) {
                    throw e.about(ticket.name());
                }
            } finally {
                tickets.endRequest();
            }
        }
    }

    private Optional<Refusal> request(SessionTickets tickets, Ticket ticket, Mode mode, Deadline deadline)
            throws SessionOverException {
        tickets.session().awaitReady(ticket.name(), deadline);
        Place place = join(tickets, ticket, deadline);
        if (mode == Mode.TRY) {
            rememberTaken(ticket.name(), !place.isAdmitted());
            if (!place.isAdmitted()) {
                remove(place, deadline);
                return Optional.of(new Refusal(place.ahead() + " in line before it"));
            }
        }
        place.startReporting();
        return Optional.empty();
    }

    private Place join(SessionTickets tickets, Ticket ticket, Deadline deadline) throws SessionOverException {
        Place place = new Place(tickets, ticket, directories);
        ticket.attach(place);
        tickets.add(place);
        boolean joined = false;
        try {
            place.join(deadline);
            joined = true;
            return place;
        } catch (KeeperException e) {
            throw place.mayExist()
                    ? Failures.of(ticket.name(), settings, e)
                    : Failures.refused(ticket.name(), settings, e);
        } finally {
            if (!joined && place.mayExist()) {
                tickets.abandonAndRemove(place);
            } else if (!joined) {
                tickets.forget(place);
            }
        }
    }

    private void rememberTaken(String lock, boolean taken) {
        if (!taken) {
            lastSeenTaken.remove(lock);
            return;
        }
        if (lastSeenTaken.size() >= MOST_REMEMBERED) {
            lastSeenTaken.clear();
        }
        lastSeenTaken.add(lock);
    }

    /** One write per session keeps all that lives by it. */
    @Override
    public void renew(List<Ticket> tickets, Deadline deadline) {
        List<Place> places = new ArrayList<>();
        for (Ticket ticket : tickets) {
            placeOf(ticket)
                    .ifPresentOrElse(places::add, () -> ticket.gone(LossReason.GONE, "it was not asked for here"));
        }
        SessionRenewal.renew(places, deadline);
    }

    @Override
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        placeOf(ticket)
                .map(Place::session)
                .filter(session -> ttl.compareTo(session.longestAsked()) > 0)
                .ifPresent(session -> {
                    throw new UnsupportedLockException(
                            ticket.name(),
                            "its ttl is the timeout of its ZooKeeper session, " + session.ttl()
                                    + ", and cannot grow; ask for the lock with a longer ttl");
                });
        renew(List.of(ticket), deadline);
    }

    @Override
    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        return remove(ticket, deadline) ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
    }

    @Override
    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        return remove(ticket, deadline) ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return views.view(sessions.awaitAny(name, deadline), name, deadline);
    }

    @Override
    public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
        return views.views(sessions.awaitAny(prefix, deadline), prefix, after, limit, deadline);
    }

    /** A server that has lost its quorum goes on answering reads, so the question is a write. */
    @Override
    public void ping(Deadline deadline) {
        Session session = sessions.awaitAny("", deadline);
        try {
            Wire.await(session.prove(), deadline);
        } catch (KeeperException e) {
            session.failed(e);
            throw Failures.refused("", settings, e);
        }
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        Session session = sessions.awaitAny(name, deadline);
        String directory = settings.directory(name);
        try {
            session.wire().sync(directory);
            Line line = Line.of(Wire.await(session.wire().children(directory, null), deadline));
            List<CompletableFuture<Boolean>> deletions = line.members().subList(0, line.holders()).stream()
                    .map(holder -> session.delete(directory + "/" + holder.node()))
                    .toList();
            int released = 0;
            for (CompletableFuture<Boolean> deletion : deletions) {
                released += Wire.await(deletion, deadline) ? 1 : 0;
            }
            return released;
        } catch (KeeperException.NoNodeException e) {
            return 0;
        } catch (KeeperException e) {
            session.failed(e);
            throw Failures.of(name, settings, e);
        }
    }

    /** There is nothing to remove: tokens are transaction numbers, and empty directories are removed by the servers. */
    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return 0;
    }

    @Override
    public void close() {
        sessions.close();
    }

    private boolean remove(Ticket ticket, Deadline deadline) {
        return placeOf(ticket).map(place -> remove(place, deadline)).orElse(false);
    }

    /** False if there was nothing any more: its node went with its session, or by somebody's hand, or was removed before. */
    private boolean remove(Place place, Deadline deadline) {
        SessionTickets tickets = place.tickets();
        Session session = place.session();
        if (!tickets.has(place)) {
            return false;
        }
        // Whatever becomes of this, somebody sees to it until it is gone.
        tickets.abandon(place);
        while (true) {
            try {
                session.awaitReady(place.lock(), deadline);
                return Wire.await(tickets.remove(place), deadline);
            } catch (SessionOverException e) {
                return false;
            } catch (KeeperException e) {
                session.failed(e);
                if (!Place.mayAskAgain(e, deadline)) {
                    throw Failures.of(place.lock(), settings, e);
                }
            }
        }
    }

    private boolean looksFree(Ticket ticket, Deadline deadline) {
        Session session = sessions.awaitAny(ticket.name(), deadline);
        String directory = settings.directory(ticket.name());
        try {
            session.wire().sync(directory);
            List<String> nodes = Wire.await(session.wire().children(directory, null), deadline);
            return Line.of(nodes).wouldAdmit(ticket.demand());
        } catch (KeeperException.NoNodeException e) {
            return true;
        } catch (KeeperException e) {
            session.failed(e);
            throw Failures.refused(ticket.name(), settings, e);
        }
    }

    private static Optional<Place> placeOf(Ticket ticket) {
        return ticket.handle(Place.class);
    }
}
