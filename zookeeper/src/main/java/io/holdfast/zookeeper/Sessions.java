package io.holdfast.zookeeper;

import io.holdfast.StoreUnavailableException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.zookeeper.Session.Purpose;
import io.holdfast.zookeeper.SessionOverException.Ending;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of one client: one per ttl, for a session's timeout is the ttl of all that lives by it.
 *
 * <p>Thread-safe. A session that ended is replaced by the next request that needs it.
 */
final class Sessions {

    /** A session is a connection and two threads. Those without locks make room for another ttl. */
    private static final int MOST = 16;

    private static final Duration CLOSING = Duration.ofSeconds(1);

    private final Settings settings;
    private final StoreContext context;

    // Guarded by this.
    private final Map<Duration, Session> byTtl = new HashMap<>();
    private @Nullable Session looking;
    private boolean closed;

    Sessions(Settings settings, StoreContext context) {
        this.settings = settings;
        this.context = context;
    }

    /**
     * The session for that ttl, connected or about to be, reserved for the caller. ZooKeeper counts in milliseconds: a part of
     * one is rounded up.
     */
    Session of(String lock, Duration asked) {
        Duration ttl = Duration.ofMillis(asked.plusNanos(999_999).toMillis());
        Session dropped = null;
        Session session;
        synchronized (this) {
            requireOpen(lock);
            session = byTtl.get(ttl);
            if (session != null && !session.isEnded()) {
                session.reserve();
                return session;
            }
            byTtl.values().removeIf(Session::isEnded);
            if (byTtl.size() >= MOST) {
                dropped = dropIdle(lock);
            }
            session = new Session(settings, context, ttl, Purpose.LEASES);
            session.reserve();
            byTtl.put(ttl, session);
        }
        if (dropped != null) {
            dropped.end(Ending.FOR_GOOD, "not used any more");
        }
        session.start();
        return session;
    }

    /** Any session for what is not bound to one: looking at locks, and freeing those of others. */
    Session any(String lock, Duration ttlOfNew) {
        Session fresh;
        synchronized (this) {
            requireOpen(lock);
            Optional<Session> open = all().stream()
                    .filter(session -> !session.isEnded())
                    .max(Comparator.comparing(Session::isConnected));
            if (open.isPresent()) {
                return open.get();
            }
            fresh = new Session(settings, context, ttlOfNew, Purpose.LOOKING);
            looking = fresh;
        }
        fresh.start();
        return fresh;
    }

    private void requireOpen(String lock) {
        if (closed) {
            throw new StoreUnavailableException(lock, "the store is closed");
        }
    }

    @Nullable
    Place find(OwnerId owner) {
        for (Session session : all()) {
            Place place = session.find(owner);
            if (place != null) {
                return place;
            }
        }
        return null;
    }

    void close() {
        synchronized (this) {
            closed = true;
        }
        Collection<Session> sessions = all();
        sessions.forEach(session -> session.end(Ending.FOR_GOOD, "the store was closed"));
        Deadline deadline = Deadline.after(context.time(), CLOSING);
        sessions.forEach(session -> session.awaitClosed(deadline));
    }

    private synchronized Collection<Session> all() {
        return Stream.concat(byTtl.values().stream(), Stream.ofNullable(looking))
                .toList();
    }

    private Session dropIdle(String lock) {
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
