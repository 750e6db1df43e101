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
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
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
import java.util.function.Predicate;

/*
 * The leases of a client.
 *
 * All locks of one ttl share a lease, so an acquisition needs none of its own: one request. The price is that the lease no
 * longer tells which of its keys somebody still wants, for it lives as long as the client does. So every key is entered in its
 * session before it is written, and what is found without having been entered is an orphan (see SessionRounds).
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

    /** Enters a key before it is written. False if its session has just ended. */
    boolean enter(TicketKey key) {
        if (closed) {
            throw RpcFailure.unavailable("the store is closed");
        }
        return key.session().enter(key);
    }

    /** A key is certainly gone, or was never written. */
    void forget(TicketKey key) {
        key.stopWaiting();
        Session session = key.session();
        session.live().remove(key.bytes());
        session.unwanted().remove(key.bytes());
        stay(key);
        discardIfDone(session);
    }

    /** Nobody wants a key any more, but it may be there, or may come yet. */
    void abandon(TicketKey key) {
        key.stopWaiting();
        Session session = key.session();
        session.unwanted()
                .putIfAbsent(
                        key.bytes(), new Session.Unwanted(key, context.time().nanoTime()));
        session.live().remove(key.bytes());
        if (key.session() != session && session.unwanted().remove(key.bytes()) != null) {
            abandon(key);
        }
    }

    /** A key goes over to another session, wanted or not. */
    void move(TicketKey key, Session to) {
        Session from = key.session();
        if (from == to) {
            // Whoever read the key before the move was answered has done so already.
            return;
        }
        to.live().put(key.bytes(), key);
        key.moveTo(to);
        key.mayMoveTo(null);
        from.live().remove(key.bytes());
        if (from.unwanted().remove(key.bytes()) != null) {
            abandon(key);
        }
        discardIfDone(from);
    }

    /** A key does not go over to another session, now or ever. */
    void stay(TicketKey key) {
        Session other = key.next();
        if (other != null) {
            key.mayMoveTo(null);
            discard(other);
        }
    }

    private void discardIfDone(Session session) {
        if (session.kind() == Session.Kind.OWN && session.live().isEmpty()) {
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
    void endWithKey(Session session, Deadline deadline) {
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
        Session.Unwanted known = session.unwanted().get(key);
        if (known != null) {
            forget(known.key());
        }
    }

    Collection<Session> all() {
        return all;
    }

    boolean isClosed() {
        return closed;
    }

    /** Extends a lease and looks at keys. A lease found gone takes its keys with it. */
    Pulse.Finding extend(Session session, List<ByteString> wanted, Deadline deadline) {
        if (!session.isTidy(context.time().nanoTime())) {
            throw RpcFailure.unavailable("requests of unknown outcome must be cleared away first");
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
        Set<TicketKey> left = keysBut(session, TicketKey::isLingering);
        session.live().values().forEach(key -> key.reportEndOfSession(reason, why));
        forgetAll(session);
        // It may live on at the server, and the keys with it: nobody shall wait for them longer than need be.
        if (session.kind() != Session.Kind.GIVEN) {
            revoke(session.lease());
        } else {
            inBackground(() -> clearAway(left, session));
        }
    }

    private void forgetAll(Session session) {
        // A key may have moved with the answer lost: then it lives on another lease than this.
        session.live().values().forEach(this::stay);
        session.unwanted().values().forEach(unwanted -> stay(unwanted.key()));
        session.live().clear();
        session.unwanted().clear();
    }

    /** The keys of a session but for such. */
    private static Set<TicketKey> keysBut(Session session, Predicate<TicketKey> wanted) {
        Set<TicketKey> keys = new HashSet<>();
        session.unwanted().values().forEach(unwanted -> keys.add(unwanted.key()));
        session.live().values().stream().filter(Predicate.not(wanted)).forEach(keys::add);
        return keys;
    }

    /** Deletes what a lost session has left on a lease of the user's, again and again until it is done. */
    private void clearAway(Set<TicketKey> left, Session session) {
        if (!clearAway(left, session, Deadline.after(context.time(), settings.timeout()))) {
            long again = context.time().nanoTime() + session.ttl().toNanos() / 3;
            context.timer().at(again, () -> inBackground(() -> clearAway(left, session)));
        }
    }

    /** Whether all were deleted; else those that are left have not been. */
    private boolean clearAway(Set<TicketKey> left, Session session, Deadline deadline) {
        try {
            for (TicketKey key : List.copyOf(left)) {
                // Not if it has moved to linger meanwhile.
                deleteNow(key.bytes(), deadline, key.isThere(), key.isBoundTo(session));
                left.remove(key);
            }
        } catch (RpcFailure failure) {
            LOG.log(Level.DEBUG, () -> "Could not clear " + session + " yet: " + failure.getMessage());
        }
        return left.isEmpty();
    }

    /** Not once the store is closed: its client takes no tasks any more. */
    void inBackground(Runnable task) {
        if (!closed) {
            context.background().execute(task);
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
                throw RpcFailure.unavailable("etcd is changing its leader, the lease waits for it");
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
        inBackground(() -> {
            List<TicketKey> held = session.live().values().stream()
                    .filter(key -> key.ticket().state() == Ticket.State.HELD)
                    .toList();
            try {
                Deadline deadline = Deadline.after(context.time(), settings.timeout());
                Pulse.Finding finding =
                        extend(session, held.stream().map(TicketKey::bytes).toList(), deadline);
                for (TicketKey key : held) {
                    if (finding.key(key.bytes()).isEmpty()) {
                        lose(key, LossReason.GONE, "its key in etcd is gone");
                    }
                }
            } catch (RpcFailure failure) {
                LOG.log(Level.DEBUG, () -> "Could not check " + session + ": " + failure.getMessage());
            }
        });
    }

    /** A key is gone by somebody else's doing. */
    void lose(TicketKey key, LossReason reason, String why) {
        key.ticket().gone(reason, why);
        forget(key);
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
                clearAway(keysBut(session, TicketKey::isTaken), session, parting);
            } else if (settings.ending() == EtcdSettings.Ending.REVOKE
                    && session.live().values().stream().noneMatch(TicketKey::isTaken)) {
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
