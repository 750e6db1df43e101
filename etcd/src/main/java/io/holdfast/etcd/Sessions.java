package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.holdfast.LossReason;
import io.holdfast.UnsupportedLockException;
import io.holdfast.etcd.internal.wire.Compare;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.LeaseGrantRequest;
import io.holdfast.etcd.internal.wire.LeaseGrantResponse;
import io.holdfast.etcd.internal.wire.LeaseGrpc;
import io.holdfast.etcd.internal.wire.LeaseRevokeRequest;
import io.holdfast.etcd.internal.wire.LeaseRevokeResponse;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveRequest;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveResponse;
import io.holdfast.etcd.internal.wire.PutRequest;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/*
 * The leases of a client.
 *
 * All locks of one ttl share a lease, so an acquisition needs none of its own: one request. The price is that the lease no
 * longer tells which of its keys somebody still wants, for it lives as long as the client does. So every key is entered as
 * a place before it is written, and what is found without a place is an orphan (see SessionRounds).
 *
 * Each session has a key of its own, watched: its deletion says at once that the lease was revoked from outside, and an
 * administrator's forced release is announced by a change of it (see SessionWatcher). So nobody needs to watch the keys he
 * holds.
 */
final class Sessions implements AutoCloseable {

    private static final Logger LOG = System.getLogger(Sessions.class.getName());

    /** Stands for all ttls where the user has given a lease. */
    private static final long GIVEN = 0;

    private static final Duration PARTING = Duration.ofSeconds(1);

    private final EtcdSettings settings;
    private final EtcdClient client;
    private final WatchHub hub;
    private final StoreContext context;
    private final Keys keys;
    private final Pulse pulse;
    private final Map<OwnerId, Place> byOwner = new ConcurrentHashMap<>();
    private final Map<Long, Session> common = new ConcurrentHashMap<>(); // by seconds of ttl, or GIVEN
    private final Set<Session> all = ConcurrentHashMap.newKeySet();
    private final ReentrantLock opening = new ReentrantLock();
    private final SessionRounds rounds;
    private final AtomicLong numbers = new AtomicLong();
    private volatile boolean closed;

    Sessions(EtcdSettings settings, EtcdClient client, WatchHub hub, StoreContext context, Keys keys) {
        this.settings = settings;
        this.client = client;
        this.hub = hub;
        this.context = context;
        this.keys = keys;
        this.pulse = new Pulse(client, context.time());
        this.rounds = new SessionRounds(this, client, context, keys);
    }

    /** Whatever is known of that acquisition, until it is gone for good. */
    @Nullable
    Place find(OwnerId owner) {
        return byOwner.get(owner);
    }

    /** The lease for locks of that ttl, new if need be. */
    Session obtain(String lockName, Duration ttl, Deadline deadline) {
        long kind = settings.lease().isPresent() ? GIVEN : seconds(ttl);
        Session known = common.get(kind);
        long now = context.time().nanoTime();
        if (known != null && isFresh(known, now)) {
            requireTtl(known, lockName, ttl);
            known.used(now);
            return known;
        }
        if (!EtcdClient.lock(opening, deadline.within(settings.timeout()))) {
            throw RpcFailure.of(Status.DEADLINE_EXCEEDED.withDescription("no time left to open a session"), false);
        }
        try {
            Session session = renewOrOpen(kind, deadline);
            requireTtl(session, lockName, ttl);
            session.used(context.time().nanoTime());
            return session;
        } catch (RpcFailure failure) {
            // A lease without keys hinders nobody: whatever became of it, nothing was taken.
            throw new RpcFailure(RpcFailure.Fate.NOT_APPLIED, failure);
        } finally {
            opening.unlock();
        }
    }

    /** A lease for one lock alone. */
    Session openOwn(Duration ttl, Deadline deadline) {
        Session session = grant(seconds(ttl), Session.Kind.OWN, deadline);
        open(session);
        return session;
    }

    /** A lease nobody extends, for a key that stays a while. */
    Session openLingering(Duration stay, Deadline deadline) {
        return grant(seconds(stay), Session.Kind.OWN, deadline);
    }

    /** Enters a place before its key is written. False if its session has just ended. */
    boolean enter(Place place) {
        if (closed) {
            throw RpcFailure.of(Status.UNAVAILABLE.withDescription("the store is closed"), false);
        }
        if (!place.session().enter(place)) {
            return false;
        }
        byOwner.put(place.request().owner(), place);
        return true;
    }

    /** The key of a place is certainly gone, or was never written. */
    void forget(Place place) {
        Session session = place.session();
        session.places().remove(place.key());
        session.doubts().remove(place.key());
        byOwner.remove(place.request().owner(), place);
        stay(place);
        discardIfDone(session);
    }

    /** Nobody wants a place any more, but its key may be there, or may come yet. */
    void doubt(Place place) {
        Session session = place.session();
        session.doubts()
                .putIfAbsent(
                        place.key(), new Session.Doubt(place, context.time().nanoTime()));
        session.places().remove(place.key());
        if (place.session() != session && session.doubts().remove(place.key()) != null) {
            doubt(place);
        }
    }

    /** A place goes over to another lease, and a doubt of it with it. */
    void move(Place place, Session to) {
        Session from = place.session();
        if (from == to) {
            // Whoever read the key before the move was answered has done so already.
            return;
        }
        to.places().put(place.key(), place);
        place.moveTo(to);
        place.mayMoveTo(null);
        from.places().remove(place.key());
        if (from.doubts().remove(place.key()) != null) {
            doubt(place);
        }
        discardIfDone(from);
    }

    /** A place does not go over to another lease, now or ever. */
    void stay(Place place) {
        Session other = place.next();
        if (other != null) {
            place.mayMoveTo(null);
            discard(other);
        }
    }

    private void discardIfDone(Session session) {
        if (session.kind() == Session.Kind.OWN && session.places().isEmpty()) {
            discard(session);
        }
    }

    /** Gives a lease back that nothing is held through. */
    void discard(Session session) {
        if (drop(session)) {
            revoke(session.lease());
        }
    }

    /** Ends a lease and the key on it that nobody wants. If that fails the lease stays, to be tried again. */
    void abandon(Session session, Deadline deadline) {
        try {
            client.call(
                    LeaseGrpc.getLeaseRevokeMethod(),
                    revocation(session.lease()),
                    EtcdClient.Repeat.HARMLESS,
                    deadline);
        } catch (RpcFailure failure) {
            if (!failure.isLeaseNotFound()) {
                throw failure;
            }
        }
        drop(session);
        forgetAll(session);
    }

    /** An orphan was deleted. */
    void cleared(Session session, ByteString key) {
        Session.Doubt doubt = session.doubts().get(key);
        if (doubt != null) {
            forget(doubt.place());
        }
    }

    Collection<Session> all() {
        return all;
    }

    boolean isClosed() {
        return closed;
    }

    /** Extends a lease and looks at keys. A lease found gone takes its places with it. */
    Pulse.Finding extend(Session session, List<ByteString> wanted, Deadline deadline) {
        if (!session.isTidy(context.time().nanoTime())) {
            throw RpcFailure.of(
                    Status.UNAVAILABLE.withDescription("requests of unknown outcome must be cleared away first"),
                    false);
        }
        List<ByteString> read = new ArrayList<>(wanted);
        read.add(keys.session(session.lease()));
        Pulse.Finding finding = pulse.take(session.lease(), read, deadline);
        if (finding.verdict() == Pulse.Verdict.EXTENDED) {
            session.extended(finding.baseNanos());
        } else if (finding.verdict() == Pulse.Verdict.NO_LEASE
                && finding.found().isEmpty()) {
            lose(session, LossReason.GONE, "etcd no longer knows its " + session);
        }
        return finding;
    }

    /** A lease has ended: everybody who holds or waits through it is told. */
    void lose(Session session, LossReason reason, String why) {
        if (!drop(session)) {
            return;
        }
        LOG.log(Level.DEBUG, () -> "Lost " + session + " of " + settings.display() + ": " + why);
        Set<Place> unwanted = unwanted(session, Place.State.LINGERING);
        session.places().values().forEach(place -> {
            place.lost(reason, why);
            place.end();
        });
        forgetAll(session);
        // It may live on at the server, and the keys with it: nobody shall wait for them longer than need be.
        if (session.kind() != Session.Kind.GIVEN) {
            revoke(session.lease());
        } else {
            rounds.background(() -> clearAway(unwanted, session));
        }
    }

    private void forgetAll(Session session) {
        byOwner.forEach((owner, place) -> {
            if (place.session() == session) {
                byOwner.remove(owner, place);
                // Its key may have moved with the answer lost: then it lives on another lease than this.
                stay(place);
            }
        });
    }

    /** The places of a session but for those in such states. */
    private static Set<Place> unwanted(Session session, Place.State... wanted) {
        Set<Place> unwanted = new HashSet<>();
        session.doubts().values().forEach(doubt -> unwanted.add(doubt.place()));
        session.places().values().stream()
                .filter(place -> !List.of(wanted).contains(place.state()))
                .forEach(unwanted::add);
        return unwanted;
    }

    /** Deletes what a lost session has left on a lease of the user's, again and again until it is done. */
    private void clearAway(Set<Place> unwanted, Session session) {
        if (!clearAway(unwanted, session, Deadline.after(context.time(), settings.timeout())) && !closed) {
            long again = context.time().nanoTime() + session.ttl().toNanos() / 3;
            context.timer().at(again, () -> rounds.background(() -> clearAway(unwanted, session)));
        }
    }

    /** Whether all were deleted; else those that are left have not been. */
    private boolean clearAway(Set<Place> unwanted, Session session, Deadline deadline) {
        try {
            for (Place place : List.copyOf(unwanted)) {
                // Not if it has moved to linger meanwhile.
                deleteNow(place.key(), deadline, place.isThere(), place.isBoundTo(session));
                unwanted.remove(place);
            }
        } catch (RpcFailure failure) {
            LOG.log(Level.DEBUG, () -> "Could not clear " + session + " yet: " + failure.getMessage());
        }
        return unwanted.isEmpty();
    }

    /** Takes a session out of use. False if it was. */
    private boolean drop(Session session) {
        if (!all.remove(session)) {
            return false;
        }
        common.values().remove(session);
        session.end();
        return true;
    }

    /** Ends a lease in the background; if that fails it expires. */
    CompletableFuture<LeaseRevokeResponse> revoke(long lease) {
        return client.callAsync(LeaseGrpc.getLeaseRevokeMethod(), revocation(lease));
    }

    private static LeaseRevokeRequest revocation(long lease) {
        return LeaseRevokeRequest.newBuilder().setId(lease).build();
    }

    /** Whoever is granted a lock through it has at least half the ttl. The rounds keep it so. */
    private static boolean isFresh(Session session, long nowNanos) {
        return !session.isOver()
                && nowNanos - session.baseNanos() < session.ttl().toNanos() / 2;
    }

    private Session renewOrOpen(long kind, Deadline deadline) {
        Session known = common.get(kind);
        if (known != null && !known.isOver()) {
            long now = context.time().nanoTime();
            if (!isFresh(known, now) && !known.isExpired(now)) {
                extend(known, List.of(), deadline);
                now = context.time().nanoTime();
            }
            if (isFresh(known, now)) {
                return known;
            }
            if (!known.isOver() && !known.isExpired(now)) {
                // Others may hold locks through it yet: theirs is not to be lost because ours cannot be had.
                throw RpcFailure.of(
                        Status.UNAVAILABLE.withDescription("etcd is changing its leader, the lease waits for it"),
                        false);
            }
            lose(known, LossReason.EXPIRED, "its " + known + " was not extended in time");
        }
        Session session = kind == GIVEN ? adopt(deadline) : grant(kind, Session.Kind.COMMON, deadline);
        common.put(kind, session);
        open(session);
        return session;
    }

    private Session adopt(Deadline deadline) {
        long lease = settings.lease().orElseThrow();
        LeaseTimeToLiveResponse answer = client.call(
                LeaseGrpc.getLeaseTimeToLiveMethod(),
                LeaseTimeToLiveRequest.newBuilder().setId(lease).build(),
                EtcdClient.Repeat.HARMLESS,
                deadline);
        Pulse.Finding finding = pulse.take(lease, List.of(keys.session(lease)), deadline);
        if (answer.getTtl() <= 0 || finding.verdict() != Pulse.Verdict.EXTENDED) {
            throw RpcFailure.of(
                    Status.NOT_FOUND.withDescription("the given lease " + Long.toHexString(lease) + " has ended"),
                    false);
        }
        Duration ttl = Duration.ofSeconds(answer.getGrantedTtl());
        return new Session(lease, ttl, Session.Kind.GIVEN, context.clientId(), numbers, finding.baseNanos());
    }

    private void requireTtl(Session session, String lockName, Duration ttl) {
        if (session.kind() == Session.Kind.GIVEN && ttl.compareTo(session.ttl()) > 0) {
            throw new UnsupportedLockException(
                    lockName,
                    "its ttl of " + DurationText.of(ttl) + " is longer than that of the given lease, "
                            + DurationText.of(session.ttl()));
        }
    }

    private Session grant(long seconds, Session.Kind kind, Deadline deadline) {
        long baseNanos = context.time().nanoTime();
        LeaseGrantResponse granted = client.call(
                LeaseGrpc.getLeaseGrantMethod(),
                LeaseGrantRequest.newBuilder().setTtl(seconds).build(),
                EtcdClient.Repeat.HARMLESS,
                deadline);
        return new Session(
                granted.getId(), Duration.ofSeconds(granted.getTtl()), kind, context.clientId(), numbers, baseNanos);
    }

    private void open(Session session) {
        all.add(session);
        announce(session);
        session.watchedBy(
                hub.watch(keys.session(session.lease()), ByteString.EMPTY, new SessionWatcher(session, this)));
        rounds.plan();
    }

    void announce(Session session) {
        PutRequest put = PutRequest.newBuilder()
                .setKey(keys.session(session.lease()))
                .setValue(ByteString.copyFromUtf8(context.clientName()))
                .setLease(session.lease())
                .build();
        client.callAsync(KVGrpc.getPutMethod(), put).thenRun(session::announced);
    }

    /** After a gap in the news of a session: looks whether what is held through it still is. */
    void check(Session session) {
        rounds.background(() -> {
            List<Place> held = session.places().values().stream()
                    .filter(place -> place.state() == Place.State.HELD)
                    .toList();
            try {
                Deadline deadline = Deadline.after(context.time(), settings.timeout());
                Pulse.Finding finding =
                        extend(session, held.stream().map(Place::key).toList(), deadline);
                for (Place place : held) {
                    if (finding.key(place.key()).isEmpty() && place.state() == Place.State.HELD) {
                        take(place, LossReason.GONE, "its key in etcd is gone");
                    }
                }
            } catch (RpcFailure failure) {
                LOG.log(Level.DEBUG, () -> "Could not check " + session + ": " + failure.getMessage());
            }
        });
    }

    /** Somebody else ended what a place stands for. */
    void take(Place place, LossReason reason, String why) {
        place.lost(reason, why);
        place.end();
        forget(place);
    }

    /*
     * Nothing is deleted but under a condition that is true only of what is meant to go: a delete may be decided on what has
     * changed since, or arrive late. The create revision says that it is this key; whoever can be overtaken by a move to
     * another lease (an extension, lingering) and must not undo it, also says which lease the key is to have.
     */

    /** Deletes a key if all of that is true of it; twice is no harm. Whether it was. */
    boolean deleteNow(ByteString key, Deadline deadline, Compare... conditions) {
        return client.call(KVGrpc.getTxnMethod(), deletion(key, conditions), EtcdClient.Repeat.HARMLESS, deadline)
                .getSucceeded();
    }

    /** As {@link #deleteNow}, without waiting for it. */
    CompletableFuture<?> deleteSoon(ByteString key, Compare... conditions) {
        return client.callAsync(KVGrpc.getTxnMethod(), deletion(key, conditions));
    }

    private static TxnRequest deletion(ByteString key, Compare... conditions) {
        return TxnRequest.newBuilder()
                .addAllCompare(List.of(conditions))
                .addSuccess(Txns.delete(key))
                .build();
    }

    private static long seconds(Duration ttl) {
        return ttl.plusNanos(999_999_999).toSeconds();
    }

    /**
     * Gives back the leases nothing is held through, and clears those of the user's. What is held, or is to linger, is left to
     * expire.
     */
    @Override
    public void close() {
        closed = true;
        Deadline parting = Deadline.after(context.time(), PARTING);
        List<CompletableFuture<?>> partings = new ArrayList<>();
        for (Session session : all) {
            if (session.kind() == Session.Kind.GIVEN) {
                clearAway(unwanted(session, Place.State.HELD, Place.State.LINGERING), session, parting);
            } else if (settings.ending() == EtcdSettings.Ending.REVOKE
                    && session.places().values().stream().noneMatch(Place::isTaken)) {
                partings.add(revoke(session.lease()));
            }
            session.end();
        }
        try {
            CompletableFuture.allOf(partings.toArray(CompletableFuture[]::new))
                    .orTimeout(parting.remainingNanos(), TimeUnit.NANOSECONDS)
                    .join();
        } catch (RuntimeException e) {
            LOG.log(Level.DEBUG, "Leases could not be given back; they will expire", e);
        }
    }
}
