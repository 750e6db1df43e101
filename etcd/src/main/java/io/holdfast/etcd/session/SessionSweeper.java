package io.holdfast.etcd.session;

import com.google.protobuf.ByteString;
import io.holdfast.LossReason;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveResponse;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.layout.Keys;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext.Timer;
import io.holdfast.spi.support.EarliestAlarm;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/*
 * Keeps a client's leases honest, in rounds in the background.
 *
 *   - A ticket the engine has not renewed for a ttl is ended and its key deleted (fixed leases end like this; so would
 *     forgotten ones), and so is a key that has lingered long enough.
 *   - A lease is extended if no renewal did it (nothing held: the next acquisition shall find it warm).
 *   - Sweep, every third of the ttl: the keys attached to the lease are listed, and those that are not live here are deleted. These
 *     are of requests whose answer never came and which were applied, perhaps late or twice. A listing is old when it arrives:
 *     the slot may have another user by now, and the revision it came with may be later than what it lists. A ticket is entered
 *     as live, with the slots it is aimed at, before its request is sent. So whether a slot is live is judged when the listing has
 *     arrived: whoever was written before that is live then, and whoever is written later has a later create revision
 *     than the listing. A key may also have moved to a lease of its own, to be held for longer or to linger. So a key is deleted
 *     only if it still has the lease it was listed with and was created no later than the listing. If there are
 *     unwanted keys and no sweep has worked for a ttl, the lease is no longer extended until one does: else it expires, and
 *     they with it, but nobody loses a lock before its time.
 *     A key that may not be deleted, since the login has lost its right to it, hinders nothing of that: its session takes nobody in
 *     any more, and ends when the last who is in it has gone. etcd since 3.4.26 and 3.5.9 does not even list a lease with such a
 *     key; then the keys are deleted that are known to be unwanted, and what turns up later goes with the lease.
 *     A lease of one lock alone needs no sweep: if its key is unwanted, the lease is ended.
 *   - A lease not extended for a ttl is lost: its holders and waiters are told.
 */
final class SessionSweeper {

    private static final Logger LOG = System.getLogger(SessionSweeper.class.getName());

    /** A lease that nothing was taken through for so long is given back. */
    private static final long IDLE_NANOS = Duration.ofMinutes(5).toNanos();

    private static final long SHORTEST_ROUND_NANOS = Duration.ofMillis(50).toNanos();

    private final Sessions sessions;
    private final TicketKeys ticketKeys;
    private final EtcdClient client;
    private final Keys keys;
    private final AtomicBoolean underWay = new AtomicBoolean();
    private final EarliestAlarm alarm;

    SessionSweeper(Sessions sessions, TicketKeys ticketKeys, EtcdClient client, Timer timer, Keys keys) {
        this.sessions = sessions;
        this.ticketKeys = ticketKeys;
        this.client = client;
        this.keys = keys;
        this.alarm = new EarliestAlarm(timer, () -> sessions.inBackground(this::round));
    }

    /** Sees to it that there is a next round, soon enough for all. */
    void plan() {
        long period = sessions.all().stream()
                .mapToLong(session -> session.ttl().toNanos() / 12)
                .min()
                .orElse(0);
        if (period > 0 && !sessions.isClosed()) {
            alarm.at(client.nanoTime() + Math.max(SHORTEST_ROUND_NANOS, nextIn(period)));
        }
    }

    /** In a period, or when the first key's time is up if that is sooner. */
    private long nextIn(long period) {
        long now = client.nanoTime();
        long next = period;
        for (Session session : sessions.all()) {
            next = session.live().mapToLong(key -> key.keptUntilNanos() - now).reduce(next, Math::min);
        }
        return next;
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
        long now = client.nanoTime();
        if (session.isExpired(now)) {
            sessions.lose(session, LossReason.EXPIRED, "its " + session + " was not extended in time");
            return;
        }
        session.live().forEach(key -> {
            if (key.endIfOver(now)) {
                ticketKeys.abandon(key);
                // Not if a release that came too late has let it linger.
                ticketKeys.deleteAsync(key, session).thenRun(() -> ticketKeys.forget(key));
            }
        });
    }

    private void tend(Session session) {
        long now = client.nanoTime();
        long third = session.ttl().toNanos() / 3;
        try {
            Deadline deadline = client.deadlineIn(Duration.ofNanos(third));
            // Before it counts as idle: giving it back is tried once only.
            if (session.isAbandoned()) {
                sessions.endWithKey(session, deadline);
                return;
            }
            if (session.kind() != Session.Kind.GIVEN && session.endIfIdle(now, longestIdleNanos(session))) {
                sessions.discard(session);
                return;
            }
            if (session.ownKey() == Session.OwnKey.UNKNOWN) {
                sessions.writeOwnKey(session);
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

    private long longestIdleNanos(Session session) {
        long ttl = session.ttl().toNanos();
        if (sessions.isRetired(session)) {
            return 0;
        }
        return session.kind() == Session.Kind.OWN ? ttl : Math.max(IDLE_NANOS, 3 * ttl);
    }

    private void sweep(Session session, Deadline deadline) {
        long now = client.nanoTime();
        try {
            sweepListed(session, deadline);
        } catch (RpcFailure failure) {
            if (!failure.isForbidden()) {
                throw failure;
            }
            sessions.retire(session);
            ticketKeys.delete(session.abandoned(), session, deadline);
        }
        session.markSwept(now);
        // Should one of those come after all, it is not live and goes like any orphan.
        session.abandoned().stream()
                .filter(key -> key.isAbandonedFor(session.ttl(), now))
                .forEach(ticketKeys::forget);
    }

    private void sweepListed(Session session, Deadline deadline) {
        LeaseTimeToLiveResponse answer = client.timeToLive(session.lease(), true, deadline);
        Set<ByteString> wanted = new HashSet<>();
        session.live().forEach(key -> wanted.addAll(key.slots()));
        List<TxnRequest> deletions = answer.getKeysList().stream()
                .filter(key -> !wanted.contains(key) && isOurs(key, session))
                .map(key -> deletion(key, session, answer))
                .toList();
        client.txns(
                deletions, Txns::each, (some, response) -> {}, (one, failure) -> sessions.retire(session), deadline);
    }

    private boolean isOurs(ByteString key, Session session) {
        return keys.lockOf(key).isPresent() && session.isOwnSlot(Keys.numberOf(Keys.slotOf(key)));
    }

    private static TxnRequest deletion(ByteString key, Session session, LeaseTimeToLiveResponse listing) {
        return Txns.ifAll(
                Txns.delete(key),
                Txns.boundTo(key, session.lease()),
                Txns.createdNoLaterThan(key, listing.getHeader().getRevision()));
    }
}
