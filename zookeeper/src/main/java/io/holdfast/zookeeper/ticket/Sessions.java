package io.holdfast.zookeeper.ticket;

import io.holdfast.StoreUnavailableException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.zookeeper.session.Ensemble;
import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.session.Session.Purpose;
import io.holdfast.zookeeper.session.SessionOverException;
import io.holdfast.zookeeper.session.SessionOverException.Ending;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of one client: one per ttl, for a session's timeout is the ttl of all that lives by it.
 *
 * <p>Thread-safe. A session that ended is replaced by the next request that needs it.
 */
public final class Sessions {

    /** A session is a connection and two threads. Those without locks make room for another ttl. */
    private static final int MOST = 16;

    private static final Duration CLOSING = Duration.ofSeconds(1);

    /** The timeout of a session that only looks: in the middle of what servers allow by default. */
    private static final int LOOKING_TICKS = 10;

    private final Ensemble ensemble;
    private final StoreContext context;

    // Guarded by this.
    private final Map<Duration, SessionTickets> byTtl = new HashMap<>();
    private @Nullable SessionTickets looking;
    private boolean closed;

    public Sessions(Ensemble ensemble, StoreContext context) {
        this.ensemble = ensemble;
        this.context = context;
    }

    /**
     * The session for that ttl, connected or about to be, with the caller's request begun. ZooKeeper counts in milliseconds: a
     * part of one is rounded up.
     */
    SessionTickets beginRequest(String lock, Duration asked) {
        Duration ttl = Duration.ofMillis(asked.plusNanos(999_999).toMillis());
        SessionTickets dropped = null;
        SessionTickets fresh;
        synchronized (this) {
            requireOpen(lock);
            SessionTickets known = byTtl.get(ttl);
            if (known != null && !known.session().isEnded()) {
                known.beginRequest();
                return known;
            }
            byTtl.values().removeIf(tickets -> tickets.session().isEnded());
            if (byTtl.size() >= MOST) {
                dropped = dropIdle(lock);
            }
            fresh = new SessionTickets(ensemble, context, ttl, Purpose.LEASES);
            fresh.beginRequest();
            byTtl.put(ttl, fresh);
        }
        if (dropped != null) {
            dropped.session().end(Ending.FOR_GOOD, "not used any more");
        }
        fresh.session().start();
        return fresh;
    }

    /** Any connected session, for what is not bound to one: looking at locks, and freeing those of others. */
    public Session awaitAny(String lock, Deadline deadline) {
        while (true) {
            Session session = any(lock);
            try {
                session.awaitConnected(lock, deadline);
                return session;
            } catch (SessionOverException e) {
                if (!e.mayTryAnother() || deadline.hasPassed()) {
                    throw e.about(lock);
                }
            }
        }
    }

    private Session any(String lock) {
        Session fresh;
        synchronized (this) {
            requireOpen(lock);
            Optional<Session> open = all().stream()
                    .map(SessionTickets::session)
                    .filter(session -> !session.isEnded())
                    .max(Comparator.comparing(Session::isReachable));
            if (open.isPresent()) {
                return open.get();
            }
            looking =
                    new SessionTickets(ensemble, context, ensemble.tick().multipliedBy(LOOKING_TICKS), Purpose.LOOKING);
            fresh = looking.session();
        }
        fresh.start();
        return fresh;
    }

    public void close() {
        synchronized (this) {
            closed = true;
        }
        List<SessionTickets> closing = all();
        closing.forEach(tickets -> tickets.session().end(Ending.FOR_GOOD, "the store was closed"));
        Deadline deadline = Deadline.after(context.time(), CLOSING);
        closing.forEach(tickets -> {
            tickets.session().awaitClosed(deadline);
            tickets.awaitLeft(deadline);
        });
    }

    private void requireOpen(String lock) {
        if (closed) {
            throw new StoreUnavailableException(lock, "the store is closed");
        }
    }

    private synchronized List<SessionTickets> all() {
        return Stream.concat(byTtl.values().stream(), Stream.ofNullable(looking))
                .toList();
    }

    private SessionTickets dropIdle(String lock) {
        Duration idle = byTtl.entrySet().stream()
                .filter(entry -> entry.getValue().isIdle())
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseThrow(() -> new UnsupportedLockException(
                        lock,
                        "each ttl needs a ZooKeeper session of its own, and locks with " + MOST
                                + " different ttls are in use already"));
        return byTtl.remove(idle);
    }
}
