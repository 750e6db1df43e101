package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.holdfast.LossReason;
import io.holdfast.UnsupportedLockException;
import io.holdfast.etcd.internal.wire.DeleteRangeRequest;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.LeaseGrantRequest;
import io.holdfast.etcd.internal.wire.LeaseGrantResponse;
import io.holdfast.etcd.internal.wire.LeaseGrpc;
import io.holdfast.etcd.internal.wire.LeaseRevokeRequest;
import io.holdfast.etcd.internal.wire.LeaseRevokeResponse;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveRequest;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveResponse;
import io.holdfast.etcd.internal.wire.PutRequest;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/*
 * The leases of a client, and what keeps them honest.
 *
 * All locks of one ttl share a lease, so an acquisition needs none of its own: one request. The price is that the lease no
 * longer tells which of its keys somebody still wants, for the lease lives as long as the client does. Hence the round,
 * every third of the ttl, in the background:
 *
 *   - A place the engine has not renewed for a ttl is ended (fixed leases end like this; so would forgotten ones).
 *   - The lease is extended if no renewal did it (nothing held: the next acquisition shall find it warm).
 *   - Sweep: the keys attached to the lease are listed, and those without a place are deleted. These are requests whose
 *     answer never came and which were applied late. A place is entered before its request is sent and ids are never
 *     used twice, so what has no place never will have one: deleting it is always right. If there are such doubts and no
 *     sweep has worked for a ttl, the lease is given up altogether: then it expires, and they with it.
 *   - A lease not extended for a ttl is lost: its holders and waiters are told.
 *
 * Each session has a key of its own, watched: its deletion says at once that the lease was revoked from outside, and an
 * administrator's forced release is announced by a change of it. So nobody needs to watch the keys he holds.
 */
final class Sessions implements AutoCloseable {

    private static final Logger LOG = System.getLogger(Sessions.class.getName());

    /** A lease that nothing was taken through for so long is given back. */
    private static final long IDLE_NANOS = Duration.ofMinutes(5).toNanos();

    private static final long SHORTEST_ROUND_NANOS = Duration.ofMillis(50).toNanos();
    private static final Duration PARTING = Duration.ofSeconds(1);

    /** What a session's own key says after a forced release, before the key that was taken. */
    static final String FORCED = "forced ";

    private final EtcdSettings settings;
    private final EtcdClient client;
    private final WatchHub hub;
    private final StoreContext context;
    private final Keys keys;
    private final Pulse pulse;
    private final Map<OwnerId, Place> byOwner = new ConcurrentHashMap<>();
    private final Map<Long, Session> common = new ConcurrentHashMap<>(); // by seconds
    private final Set<Session> all = ConcurrentHashMap.newKeySet();
    private final ReentrantLock opening = new ReentrantLock();
    private final AtomicBoolean roundUnderWay = new AtomicBoolean();
    private final AtomicBoolean roundPlanned = new AtomicBoolean();
    private volatile boolean closed;

    Sessions(EtcdSettings settings, EtcdClient client, WatchHub hub, StoreContext context, Keys keys) {
        this.settings = settings;
        this.client = client;
        this.hub = hub;
        this.context = context;
        this.keys = keys;
        this.pulse = new Pulse(client, context.time());
    }

    /** Whatever is known of that acquisition, until it is gone for good. */
    @Nullable
    Place find(OwnerId owner) {
        return byOwner.get(owner);
    }

    /** The lease for locks of that ttl, new if need be. */
    Session obtain(String lockName, Duration ttl, Deadline deadline) {
        long seconds = seconds(ttl);
        Session known = common.get(settings.lease().isPresent() ? 0L : seconds);
        long now = context.time().nanoTime();
        if (known != null
                && !known.isOver()
                && now - known.baseNanos() < known.ttl().toNanos() / 3 * 2) {
            requireTtl(known, lockName, ttl);
            known.used(now);
            return known;
        }
        if (!lock(deadline)) {
            throw RpcFailure.of(Status.DEADLINE_EXCEEDED.withDescription("no time left to open a session"), false);
        }
        try {
            Session session = settings.lease().isPresent() ? adopt(deadline) : renewOrOpen(seconds, deadline);
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
        all.add(session);
        return session;
    }

    /** A lease nobody extends, for a key that stays a while. */
    Session openLingering(Duration stay, Deadline deadline) {
        return grant(seconds(stay), Session.Kind.OWN, deadline);
    }

    /** Enters a place before its key is written. */
    void enter(Place place) {
        place.session().places().put(place.key(), place);
        byOwner.put(place.request().owner(), place);
        if (closed) {
            throw RpcFailure.of(Status.UNAVAILABLE.withDescription("the store is closed"), false);
        }
    }

    /** The key of a place is certainly gone, or was never written. */
    void forget(Place place) {
        Session session = place.session();
        session.places().remove(place.key());
        session.doubts().remove(place.key());
        byOwner.remove(place.request().owner(), place);
        if (session.kind() == Session.Kind.OWN && session.places().isEmpty()) {
            drop(session);
            revoke(session.lease());
        }
    }

    /** Nobody wants a place any more, but its key may be there, or may come yet. */
    void doubt(Place place) {
        Session session = place.session();
        session.doubts().add(place.key());
        session.places().remove(place.key());
    }

    /** A place goes over to another lease. */
    void move(Place place, Session to) {
        Session from = place.session();
        to.places().put(place.key(), place);
        place.moveTo(to);
        from.places().remove(place.key());
        if (from.kind() == Session.Kind.OWN && from.places().isEmpty()) {
            drop(from);
            revoke(from.lease());
        }
    }

    /** Extends a lease and looks at keys. A lease found gone takes its places with it. */
    Pulse.Finding extend(Session session, List<ByteString> wanted, Deadline deadline) {
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
        session.places().values().forEach(place -> {
            place.lost(reason, why);
            place.end();
        });
        byOwner.values().removeIf(place -> place.session() == session);
        // It may live on at the server, and the keys with it: nobody shall wait for them longer than need be.
        if (session.kind() != Session.Kind.GIVEN) {
            revoke(session.lease());
        }
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
        return client.callAsync(
                LeaseGrpc.getLeaseRevokeMethod(),
                LeaseRevokeRequest.newBuilder().setId(lease).build());
    }

    private boolean lock(Deadline deadline) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return opening.tryLock(deadline.within(settings.timeout()).remainingNanos(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Session renewOrOpen(long seconds, Deadline deadline) {
        Session known = common.get(seconds);
        if (known != null && !known.isOver()) {
            if (context.time().nanoTime() - known.baseNanos() < known.ttl().toNanos() / 3 * 2) {
                return known;
            }
            extend(known, List.of(), deadline);
            if (!known.isOver() && !known.isExpired(context.time().nanoTime())) {
                return known;
            }
            lose(known, LossReason.EXPIRED, "its " + known + " was not extended in time");
        }
        Session session = grant(seconds, Session.Kind.COMMON, deadline);
        common.put(seconds, session);
        open(session);
        return session;
    }

    private Session adopt(Deadline deadline) {
        Session known = common.get(0L);
        if (known != null && !known.isOver() && !known.isExpired(context.time().nanoTime())) {
            return known;
        }
        long lease = settings.lease().orElseThrow();
        LeaseTimeToLiveResponse answer = client.call(
                LeaseGrpc.getLeaseTimeToLiveMethod(),
                LeaseTimeToLiveRequest.newBuilder().setId(lease).build(),
                EtcdClient.Repeat.HARMLESS,
                deadline);
        Duration ttl = Duration.ofSeconds(answer.getGrantedTtl());
        Pulse.Finding finding = pulse.take(lease, List.of(), deadline);
        if (answer.getTtl() <= 0 || finding.verdict() != Pulse.Verdict.EXTENDED) {
            throw RpcFailure.of(
                    Status.NOT_FOUND.withDescription("the given lease " + Long.toHexString(lease) + " has ended"),
                    false);
        }
        Session session = new Session(lease, ttl, Session.Kind.GIVEN, context.clientId(), finding.baseNanos());
        common.put(0L, session);
        open(session);
        return session;
    }

    private void requireTtl(Session session, String lockName, Duration ttl) {
        if (session.kind() == Session.Kind.GIVEN && ttl.compareTo(session.ttl()) > 0) {
            throw new UnsupportedLockException(
                    lockName, "its ttl of " + ttl + " is longer than that of the given lease, " + session.ttl());
        }
    }

    private Session grant(long seconds, Session.Kind kind, Deadline deadline) {
        long baseNanos = context.time().nanoTime();
        LeaseGrantResponse granted = client.call(
                LeaseGrpc.getLeaseGrantMethod(),
                LeaseGrantRequest.newBuilder().setTtl(seconds).build(),
                EtcdClient.Repeat.HARMLESS,
                deadline);
        return new Session(granted.getId(), Duration.ofSeconds(granted.getTtl()), kind, context.clientId(), baseNanos);
    }

    private void open(Session session) {
        all.add(session);
        announce(session);
        session.watchedBy(hub.watch(keys.session(session.lease()), ByteString.EMPTY, new SessionWatcher(session)));
        plan();
    }

    private void announce(Session session) {
        PutRequest put = PutRequest.newBuilder()
                .setKey(keys.session(session.lease()))
                .setValue(ByteString.copyFromUtf8(context.clientName()))
                .setLease(session.lease())
                .build();
        client.callAsync(KVGrpc.getPutMethod(), put).thenRun(session::announced);
    }

    private void plan() {
        long period = all.stream()
                .mapToLong(session -> session.ttl().toNanos() / 6)
                .min()
                .orElse(0);
        if (period == 0 || closed || !roundPlanned.compareAndSet(false, true)) {
            return;
        }
        context.timer().at(context.time().nanoTime() + Math.max(SHORTEST_ROUND_NANOS, nextIn(period)), () -> {
            roundPlanned.set(false);
            background(this::round);
        });
    }

    /** In a period, or when the first place runs out if that is sooner. */
    private long nextIn(long period) {
        long now = context.time().nanoTime();
        long next = period;
        for (Session session : all) {
            for (Place place : session.places().values()) {
                next = Math.min(next, place.keptUntilNanos() - now);
            }
        }
        return next;
    }

    private void background(Runnable task) {
        try {
            context.background().execute(task);
        } catch (RuntimeException e) {
            LOG.log(Level.DEBUG, "The client is closing", e);
        }
    }

    private void round() {
        if (closed || !roundUnderWay.compareAndSet(false, true)) {
            return;
        }
        try {
            // Local news first: it must not wait for a server.
            all.forEach(this::endLapsed);
            all.forEach(this::tend);
        } finally {
            roundUnderWay.set(false);
            plan();
        }
    }

    private void endLapsed(Session session) {
        long now = context.time().nanoTime();
        if (session.isExpired(now)) {
            lose(session, LossReason.EXPIRED, "its " + session + " was not extended in time");
            return;
        }
        for (Place place : session.places().values()) {
            if (now - place.keptUntilNanos() >= 0) {
                place.lost(LossReason.EXPIRED, "it was not renewed in time");
                place.end();
                doubt(place);
                delete(place.key()).thenRun(() -> forget(place));
            }
        }
    }

    private void tend(Session session) {
        long now = context.time().nanoTime();
        long third = session.ttl().toNanos() / 3;
        try {
            Deadline deadline = Deadline.after(context.time(), Duration.ofNanos(third));
            if (session.kind() == Session.Kind.COMMON && isIdle(session, now)) {
                drop(session);
                revoke(session.lease());
                return;
            }
            if (!session.isAnnounced() && session.kind() != Session.Kind.OWN) {
                announce(session);
            }
            if (now - session.baseNanos() > third + third / 4) {
                extend(session, List.of(), deadline);
            }
            if (now - session.sweptNanos() >= third) {
                sweep(session, deadline);
            }
        } catch (RpcFailure failure) {
            LOG.log(Level.DEBUG, () -> "Could not tend " + session + ": " + failure.getMessage());
            if (!session.doubts().isEmpty()
                    && now - session.sweptNanos() > session.ttl().toNanos()) {
                lose(session, LossReason.GONE, "requests of unknown outcome could not be cleared away");
            }
        }
    }

    private static boolean isIdle(Session session, long now) {
        return session.places().isEmpty()
                && session.doubts().isEmpty()
                && now - session.usedNanos()
                        > Math.max(IDLE_NANOS, 3 * session.ttl().toNanos());
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
            if (isOrphan(key, session)) {
                LOG.log(Level.DEBUG, () -> "Deleting orphan " + key.toStringUtf8());
                deleteNow(key, deadline);
            }
        }
        session.swept(now);
    }

    private boolean isOrphan(ByteString key, Session session) {
        String text = key.toStringUtf8();
        return keys.lockOf(key).isPresent()
                && session.isOwnId(text.substring(text.lastIndexOf('/') + 1))
                && !session.places().containsKey(key);
    }

    /** Deletes a key nobody else ever uses, so twice is no harm. Whether it was there. */
    boolean deleteNow(ByteString key, Deadline deadline) {
        return client.call(
                                KVGrpc.getDeleteRangeMethod(),
                                DeleteRangeRequest.newBuilder().setKey(key).build(),
                                EtcdClient.Repeat.HARMLESS,
                                deadline)
                        .getDeleted()
                > 0;
    }

    private CompletableFuture<?> delete(ByteString key) {
        return client.callAsync(
                KVGrpc.getDeleteRangeMethod(),
                DeleteRangeRequest.newBuilder().setKey(key).build());
    }

    private static long seconds(Duration ttl) {
        return ttl.plusNanos(999_999_999).toSeconds();
    }

    /** Gives back the leases nothing is held through. What is held is left to expire. */
    @Override
    public void close() {
        closed = true;
        List<CompletableFuture<LeaseRevokeResponse>> partings = new ArrayList<>();
        for (Session session : all) {
            boolean held = session.places().values().stream().anyMatch(place -> place.state() == Place.State.HELD);
            boolean ours = session.kind() != Session.Kind.GIVEN;
            if (ours && !held && settings.ending() == EtcdSettings.Ending.REVOKE) {
                partings.add(revoke(session.lease()));
            }
            session.end();
        }
        try {
            CompletableFuture.allOf(partings.toArray(CompletableFuture[]::new))
                    .orTimeout(PARTING.toMillis(), TimeUnit.MILLISECONDS)
                    .join();
        } catch (RuntimeException e) {
            LOG.log(Level.DEBUG, "Leases could not be revoked; they will expire", e);
        }
    }

    /** Hears of a session's own key: gone if the lease is, changed by a forced release. */
    private final class SessionWatcher implements WatchHub.Watcher {

        private final Session session;
        private boolean openedBefore; // only on the stream's thread

        SessionWatcher(Session session) {
            this.session = session;
        }

        /** What happened during a gap shows in the keys. */
        @Override
        public void opened(long revision) {
            if (openedBefore) {
                background(() -> checkAll(session));
            }
            openedBefore = true;
        }

        @Override
        public void deleted(List<KeyValue> gone) {
            lose(session, LossReason.GONE, "its " + session + " was revoked or has expired");
        }

        @Override
        public void changed(KeyValue now) {
            String text = now.getValue().toStringUtf8();
            if (text.startsWith(FORCED)) {
                Place place = session.places().get(now.getValue().substring(FORCED.length()));
                if (place != null) {
                    place.lost(LossReason.FORCED, "an administrator released it by force");
                    place.end();
                    forget(place);
                }
            }
        }
    }

    private void checkAll(Session session) {
        List<Place> places = session.places().values().stream()
                .filter(place -> place.state() == Place.State.HELD)
                .toList();
        try {
            Pulse.Finding finding = extend(
                    session,
                    places.stream().map(Place::key).toList(),
                    Deadline.after(context.time(), settings.timeout()));
            for (Place place : places) {
                if (finding.key(place.key()).isEmpty() && place.state() == Place.State.HELD) {
                    place.lost(LossReason.GONE, "its key in etcd is gone");
                    place.end();
                    forget(place);
                }
            }
        } catch (RpcFailure failure) {
            LOG.log(Level.DEBUG, () -> "Could not check " + session + ": " + failure.getMessage());
        }
    }
}
