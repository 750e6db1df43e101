package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.holdfast.LossReason;
import io.holdfast.etcd.internal.wire.LeaseGrpc;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveRequest;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveResponse;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/*
 * Keeps a client's leases honest, in rounds in the background.
 *
 *   - A place the engine has not renewed for a ttl is ended (fixed leases end like this; so would forgotten ones), and so is
 *     one that has lingered long enough.
 *   - A lease is extended if no renewal did it (nothing held: the next acquisition shall find it warm).
 *   - Sweep, every third of the ttl: the keys attached to the lease are listed, and those without a place are deleted. These
 *     are requests whose answer never came and which were applied, perhaps late. A place is entered before its request is
 *     sent and ids are never used twice, so what has no place never will have one on this lease. It may have one on another:
 *     a listing is old when it arrives, and a key in it may since have moved to a lease of its own, to be held for longer or
 *     to linger. So a key is deleted only if it still has the lease it was listed with, and was there when it was listed. If
 *     there are such doubts and no sweep has worked for a ttl, the lease is no longer extended until one does: else it
 *     expires, and they with it, but nobody loses a lock before its time.
 *     A lease of one lock alone needs no sweep: if its key is in doubt, the lease is ended.
 *   - A lease not extended for a ttl is lost: its holders and waiters are told.
 */
final class SessionRounds {

    private static final Logger LOG = System.getLogger(SessionRounds.class.getName());

    /** A lease that nothing was taken through for so long is given back. */
    private static final long IDLE_NANOS = Duration.ofMinutes(5).toNanos();

    private static final long SHORTEST_ROUND_NANOS = Duration.ofMillis(50).toNanos();

    private final Sessions sessions;
    private final EtcdClient client;
    private final StoreContext context;
    private final Keys keys;
    private final AtomicBoolean underWay = new AtomicBoolean();
    private StoreContext.@Nullable Alarm alarm; // guarded by this
    private long alarmNanos; // guarded by this

    SessionRounds(Sessions sessions, EtcdClient client, StoreContext context, Keys keys) {
        this.sessions = sessions;
        this.client = client;
        this.context = context;
        this.keys = keys;
    }

    /** Sees to it that there is a next round, soon enough for all. */
    synchronized void plan() {
        long period = sessions.all().stream()
                .mapToLong(session -> session.ttl().toNanos() / 12)
                .min()
                .orElse(0);
        if (period == 0 || sessions.isClosed()) {
            return;
        }
        long at = context.time().nanoTime() + Math.max(SHORTEST_ROUND_NANOS, nextIn(period));
        if (alarm != null) {
            if (alarmNanos - at <= 0) {
                return;
            }
            alarm.cancel();
        }
        alarmNanos = at;
        alarm = context.timer().at(at, this::ring);
    }

    private void ring() {
        synchronized (this) {
            alarm = null;
        }
        background(this::round);
    }

    /** In a period, or when the first place runs out if that is sooner. */
    private long nextIn(long period) {
        long now = context.time().nanoTime();
        long next = period;
        for (Session session : sessions.all()) {
            for (Place place : session.places().values()) {
                next = Math.min(next, place.keptUntilNanos() - now);
            }
        }
        return next;
    }

    /** Hands a task over, later if that fails now: without rounds no doubt would ever be cleared. */
    void background(Runnable task) {
        try {
            context.background().execute(task);
        } catch (RuntimeException | Error e) {
            LOG.log(Level.DEBUG, "Cannot hand over a task", e);
            if (!sessions.isClosed()) {
                context.timer().at(context.time().nanoTime() + SHORTEST_ROUND_NANOS, () -> background(task));
            }
        }
    }

    private void round() {
        if (sessions.isClosed() || !underWay.compareAndSet(false, true)) {
            return;
        }
        try {
            // Local news first: it must not wait for a server.
            sessions.all().forEach(this::endLapsed);
            sessions.all().forEach(this::tend);
        } finally {
            underWay.set(false);
            plan();
        }
    }

    private void endLapsed(Session session) {
        long now = context.time().nanoTime();
        if (session.isExpired(now)) {
            sessions.lose(session, LossReason.EXPIRED, "its " + session + " was not extended in time");
            return;
        }
        for (Place place : session.places().values()) {
            if (place.lapse(now)) {
                place.end();
                sessions.doubt(place);
                // Not if a release that came too late has let it linger.
                sessions.deleteSoon(place.key(), place.isThere(), place.isBoundTo(session))
                        .thenRun(() -> sessions.forget(place));
            }
        }
    }

    private void tend(Session session) {
        long now = context.time().nanoTime();
        long third = session.ttl().toNanos() / 3;
        try {
            Deadline deadline = Deadline.after(context.time(), Duration.ofNanos(third));
            // Before it counts as idle: giving it back is tried once only.
            if (session.isAbandoned()) {
                sessions.abandon(session, deadline);
                return;
            }
            if (session.kind() != Session.Kind.GIVEN && session.endIfIdle(now, patience(session))) {
                sessions.discard(session);
                return;
            }
            if (!session.isAnnounced()) {
                sessions.announce(session);
            }
            if (!session.isTidy(now)) {
                sweep(session, deadline);
            }
            if (now - session.baseNanos() > third) {
                sessions.extend(session, List.of(), deadline);
            }
            if (session.kind() != Session.Kind.OWN && now - session.sweptNanos() >= third) {
                sweep(session, deadline);
            }
        } catch (RpcFailure failure) {
            LOG.log(Level.DEBUG, () -> "Could not tend " + session + ": " + failure.getMessage());
        }
    }

    private static long patience(Session session) {
        long ttl = session.ttl().toNanos();
        return session.kind() == Session.Kind.OWN ? ttl : Math.max(IDLE_NANOS, 3 * ttl);
    }

    private void sweep(Session session, Deadline deadline) {
        long now = context.time().nanoTime();
        LeaseTimeToLiveResponse answer = client.call(
                LeaseGrpc.getLeaseTimeToLiveMethod(),
                LeaseTimeToLiveRequest.newBuilder()
                        .setId(session.lease())
                        .setKeys(true)
                        .build(),
                EtcdClient.Repeat.HARMLESS,
                deadline);
        for (ByteString key : answer.getKeysList()) {
            if (isOrphan(key, session) && deleteOrphan(key, session, answer, deadline)) {
                LOG.log(Level.DEBUG, () -> "Deleted orphan " + key.toStringUtf8());
                sessions.cleared(session, key);
            }
        }
        session.swept(now);
        // Should one of those come after all, it has no place and goes like any orphan.
        session.doubts().values().stream()
                .filter(doubt -> now - doubt.sinceNanos() > session.ttl().toNanos())
                .forEach(doubt -> sessions.forget(doubt.place()));
    }

    private boolean deleteOrphan(ByteString key, Session session, LeaseTimeToLiveResponse listing, Deadline deadline) {
        return sessions.deleteNow(
                key,
                deadline,
                Txns.boundTo(key, session.lease()),
                Txns.createdNoLaterThan(key, listing.getHeader().getRevision()));
    }

    private boolean isOrphan(ByteString key, Session session) {
        String text = key.toStringUtf8();
        return keys.lockOf(key).isPresent()
                && session.isOwnId(text.substring(text.lastIndexOf('/') + 1))
                && !session.places().containsKey(key);
    }
}
