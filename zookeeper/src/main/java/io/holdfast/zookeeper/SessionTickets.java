package io.holdfast.zookeeper;

import io.holdfast.spi.StoreContext;
import io.holdfast.zookeeper.Session.Purpose;
import io.holdfast.zookeeper.SessionOverException.Ending;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The nodes of this client's tickets that live by one session: those of live tickets, and those that nobody wants any more and
 * that may still be there. Thread-safe.
 */
final class SessionTickets implements Session.User {

    private static final Logger LOG = System.getLogger(SessionTickets.class.getName());

    private final Session session;
    private final Settings settings;
    private final StoreContext context;
    private final long sweepNanos;
    private final AtomicInteger requests = new AtomicInteger();
    private final Set<Place> live = ConcurrentHashMap.newKeySet();
    /** Since when nobody wants them. */
    private final Map<Place, Long> unwanted = new ConcurrentHashMap<>();

    private volatile long nextSweepNanos;

    SessionTickets(Settings settings, StoreContext context, Duration ttl, Purpose purpose) {
        this.session = new Session(settings, context, ttl, purpose, this);
        this.settings = settings;
        this.context = context;
        this.sweepNanos = ttl.toNanos() / 3;
        this.nextSweepNanos = context.time().nanoTime() + sweepNanos;
    }

    Session session() {
        return session;
    }

    /** A request is about to use the session, and keeps it from being closed as idle. */
    void beginRequest() {
        requests.incrementAndGet();
    }

    void endRequest() {
        requests.decrementAndGet();
    }

    @Override
    public boolean isIdle() {
        return requests.get() == 0 && live.isEmpty() && unwanted.isEmpty();
    }

    /** To be called before the node is asked for, so that whatever happens to the session reaches it. */
    void add(Place place) {
        live.add(place);
        session.pulseSoon();
    }

    /** Whether it is there for its ticket, neither abandoned nor forgotten. */
    boolean isLive(Place place) {
        return live.contains(place);
    }

    /** Whether there may be something of it at the servers. */
    boolean has(Place place) {
        return live.contains(place) || unwanted.containsKey(place);
    }

    /** Nothing of it is left at the servers. */
    void forget(Place place) {
        live.remove(place);
        unwanted.remove(place);
        place.stopWatching();
    }

    /** Nobody wants it any more: it is looked for and removed until nothing is left and nothing can appear. */
    void abandon(Place place) {
        unwanted.putIfAbsent(place, context.time().nanoTime());
        live.remove(place);
        place.stopWatching();
        if (session.isEnded()) {
            unwanted.remove(place);
        }
    }

    /** Tries once to remove it; completes with whether there was something when nothing is left. */
    CompletableFuture<Boolean> remove(Place place) {
        return place.delete().whenComplete((existed, failure) -> {
            if (failure == null) {
                forget(place);
            }
        });
    }

    /** Abandons it and removes it, now if there is a connection, else with the next sweep. Does not wait. */
    void abandonAndRemove(Place place) {
        abandon(place);
        if (session.isConnected() && !session.isEnded()) {
            removeQuietly(place);
        }
    }

    private void removeQuietly(Place place) {
        remove(place).whenComplete((existed, failure) -> {
            if (failure != null) {
                session.failed(failure);
            }
        });
    }

    @Override
    public void connected() {
        forEach(live, Place::lookAgain);
    }

    @Override
    public void ended(String detail) {
        forEach(live, place -> place.sessionEnded(detail));
        live.clear();
        unwanted.clear();
    }

    @Override
    public void tend(long nowNanos) {
        forEach(live, place -> place.tend(nowNanos));
        if (nowNanos - nextSweepNanos >= 0) {
            nextSweepNanos = nowNanos + sweepNanos;
            sweep(nowNanos);
        }
    }

    private void sweep(long nowNanos) {
        for (Map.Entry<Place, Long> entry : unwanted.entrySet()) {
            Place place = entry.getKey();
            if (nowNanos - entry.getValue() > session.ttl().toNanos()
                    && settings.connector().isOwn()) {
                session.end(
                        Ending.EXPIRED,
                        "given up, because what a request for lock '" + place.lock()
                                + "' may have left could not be removed within the ttl");
                return;
            }
            if (session.isConnected()) {
                removeQuietly(place);
            }
        }
    }

    /** Lets trouble with one not reach the others. */
    private static void forEach(Set<Place> places, Consumer<Place> action) {
        for (Place place : places) {
            try {
                action.accept(place);
            } catch (RuntimeException | Error e) {
                LOG.log(Level.WARNING, () -> "Trouble with a request for lock '" + place.lock() + "'", e);
            }
        }
    }
}
