package io.holdfast.etcd.session;

import com.google.protobuf.ByteString;
import io.holdfast.LossReason;
import io.holdfast.UnsupportedLockException;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.EtcdSettings;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.client.WatchHub;
import io.holdfast.etcd.internal.wire.Event;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.PutRequest;
import io.holdfast.etcd.layout.Keys;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DurationText;
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
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/*
 * The leases of a client.
 *
 * All locks of one ttl share a lease, so an acquisition needs none of its own: one request. The price is that the lease no
 * longer tells which of its keys somebody still wants, for it lives as long as the client does. So every key is entered in its
 * session before it is written, and what is found without having been entered is an orphan (see SessionSweeper).
 *
 * Each session has a key of its own, watched: its deletion says at once that the lease was revoked from outside, and an
 * administrator's forced release is told by a change of it (see OwnKeyWatcher). So nobody needs to watch the keys he
 * holds.
 */
public final class Sessions implements AutoCloseable {

    private static final Logger LOG = System.getLogger(Sessions.class.getName());

    /** Stands for all ttls where the user has given a lease. */
    private static final long GIVEN = 0;

    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(1);
    private static final long GIVE_BACK_AGAIN_NANOS = Duration.ofSeconds(1).toNanos();

    private final EtcdSettings settings;
    private final EtcdClient client;
    private final StoreContext context;
    private final Keys keys;
    private final EtcdLeases leases;
    private final TicketKeys ticketKeys;
    private final Map<Long, Session> common = new ConcurrentHashMap<>(); // by seconds of ttl, or GIVEN
    private final Set<Session> all = ConcurrentHashMap.newKeySet();
    private final Set<Session> leaving =
            ConcurrentHashMap.newKeySet(); // out of use, and not known to have ended at the server
    private final ReentrantLock opening = new ReentrantLock();
    private final SessionSweeper sweeper;
    private volatile boolean closed;

    public Sessions(EtcdSettings settings, EtcdClient client, StoreContext context, Keys keys) {
        this.settings = settings;
        this.client = client;
        this.context = context;
        this.keys = keys;
        this.ticketKeys = new TicketKeys(client, this::discard);
        this.leases = new EtcdLeases(client, context, keys);
        this.sweeper = new SessionSweeper(this, ticketKeys, client, context.timer(), keys);
    }

    public TicketKeys ticketKeys() {
        return ticketKeys;
    }

    /** The session for locks of that ttl, new if need be. */
    public Session obtain(String lockName, Duration ttl, Deadline deadline) {
        if (closed) {
            throw RpcFailure.unavailable("the store is closed");
        }
        long ttlClass = settings.lease().isPresent() ? GIVEN : seconds(ttl);
        Session known = common.get(ttlClass);
        Session session =
                known != null && isFresh(known) ? known : freshSession(ttlClass, keys.queue(lockName), deadline);
        requireTtl(session, lockName, ttl);
        session.markUsed(client.nanoTime());
        return session;
    }

    /** @param readable a key the login may read, if it may do anything */
    private Session freshSession(long ttlClass, ByteString readable, Deadline deadline) {
        if (!EtcdClient.tryLock(opening, deadline.within(settings.timeout()))) {
            throw RpcFailure.unavailable("no time left to open a session");
        }
        try {
            return renewOrOpen(ttlClass, readable, deadline);
        } catch (RpcFailure failure) {
            // A lease without keys hinders nobody: whatever became of it, nothing was taken.
            throw failure.asNotApplied();
        } finally {
            opening.unlock();
        }
    }

    /**
     * A session for one lock alone.
     *
     * @param readable a key the login may read
     */
    Session openOwn(ByteString readable, Duration ttl, Deadline deadline) {
        Session session = leases.grant(seconds(ttl), Session.Kind.OWN, readable, deadline);
        open(session);
        return session;
    }

    /** A session nobody extends, for a key that stays a while. */
    public Session openLingering(TicketKey key, Duration stay, Deadline deadline) {
        return leases.grant(seconds(stay), Session.Kind.OWN, key.bytes(), deadline);
    }

    /** Ends such a session then, which is more exact than its expiry. */
    public void endLingering(Session session, long atNanos) {
        context.timer().at(atNanos, () -> leases.revokeAsync(session.lease()));
    }

    /** Gives a lease back that nothing is held through. */
    void discard(Session session) {
        if (drop(session)) {
            giveBack(session);
        }
    }

    /** Again and again: a key may be on it whose move was not answered, and a lease for one key may be meant to last for days. */
    private void giveBack(Session session) {
        leaving.add(session);
        leases.revokeAsync(session.lease()).whenComplete((given, failure) -> {
            boolean isKnownGone = failure == null
                    || RpcFailure.causeOf(failure)
                            .filter(RpcFailure::isLeaseNotFound)
                            .isPresent();
            if (isKnownGone || session.isExpired(client.nanoTime())) {
                leaving.remove(session);
            } else if (!closed) {
                client.later(GIVE_BACK_AGAIN_NANOS, () -> giveBack(session));
            }
        });
    }

    /**
     * Lets nobody else into a session that has a key the login has lost its right to: it is kept while others hold or wait through it,
     * and that key with it. A lease of the user's is the only one there is.
     */
    void retire(Session session) {
        if (session.kind() == Session.Kind.COMMON) {
            common.values().remove(session);
        }
    }

    boolean isRetired(Session session) {
        return session.kind() == Session.Kind.COMMON && !common.containsValue(session);
    }

    /** Ends a lease and the key on it that nobody wants. If that fails the lease stays, to be tried again. */
    void endWithKey(Session session, Deadline deadline) {
        leases.revoke(session.lease(), deadline);
        drop(session);
        ticketKeys.forgetAll(session);
    }

    Collection<Session> all() {
        return all;
    }

    boolean isClosed() {
        return closed;
    }

    /** Extends a lease for a ticket that is about to be written on it, which will prove that. Empty if it must not live on. */
    public Optional<EtcdLeases.Answered> extendBeforeWrite(Session session, Deadline deadline) {
        return session.isTidy(client.nanoTime())
                ? Optional.of(leases.ask(session.lease(), deadline))
                : Optional.empty();
    }

    /** Extends a lease and looks at keys. A lease found gone takes its keys with it. */
    EtcdLeases.Finding extend(Session session, List<ByteString> wanted, Deadline deadline) {
        if (!session.isTidy(client.nanoTime())) {
            throw RpcFailure.unavailable("requests of unknown outcome must be cleared away first");
        }
        boolean hasOwnKey = session.ownKey() == Session.OwnKey.WRITTEN;
        // There is no proof without a read, and this is one the login has the right to.
        ByteString proof = hasOwnKey ? keys.session(session.lease()) : session.readable();
        List<ByteString> read = new ArrayList<>(wanted);
        read.add(proof);
        EtcdLeases.Finding finding = leases.extend(session.lease(), read, deadline);
        if (hasOwnKey && finding.refused().containsKey(proof)) {
            session.markOwnKey(Session.OwnKey.FORBIDDEN);
            return extend(session, wanted, deadline);
        }
        boolean gone = hasOwnKey
                ? finding.key(proof).isEmpty()
                : finding.verdict() == EtcdLeases.Verdict.NO_LEASE
                        && !wanted.isEmpty()
                        && finding.found().isEmpty()
                        && finding.refused().isEmpty();
        if (gone) {
            lose(session, LossReason.GONE, "etcd no longer knows its " + session);
        } else if (finding.verdict() == EtcdLeases.Verdict.EXTENDED) {
            session.markExtended(finding.baseNanos());
        }
        return finding;
    }

    /** A lease has ended: everybody who holds or waits through it is told. */
    public void lose(Session session, LossReason reason, String why) {
        if (!drop(session)) {
            return;
        }
        LOG.log(Level.DEBUG, () -> "Lost " + session + " of " + settings.display() + ": " + why);
        Set<TicketKey> left = keysBut(session, TicketKey::isLingering);
        session.live().forEach(key -> key.reportEndOfSession(reason, why));
        ticketKeys.forgetAll(session);
        // It may live on at the server, and the keys with it: nobody shall wait for them longer than need be.
        if (session.kind() != Session.Kind.GIVEN) {
            giveBack(session);
        } else {
            inBackground(() -> clearAway(left, session));
        }
    }

    /** The keys of a session but for such. */
    private static Set<TicketKey> keysBut(Session session, Predicate<TicketKey> wanted) {
        return session.keys().stream()
                .filter(key -> key.isAbandoned() || !wanted.test(key))
                .collect(Collectors.toCollection(HashSet::new));
    }

    /** Deletes what a lost session has left on a lease of the user's, again and again until it is done. */
    private void clearAway(Set<TicketKey> left, Session session) {
        if (!ticketKeys.deleteAll(left, session, client.deadlineIn(settings.timeout()))) {
            client.later(session.ttl().toNanos() / 3, () -> inBackground(() -> clearAway(left, session)));
        }
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

    /** Whoever is granted a lock through it has at least half the ttl. The rounds keep it so. */
    private boolean isFresh(Session session) {
        return !session.isOver()
                && client.nanoTime() - session.baseNanos() < session.ttl().toNanos() / 2;
    }

    private Session renewOrOpen(long ttlClass, ByteString readable, Deadline deadline) {
        Session known = common.get(ttlClass);
        if (known != null && !known.isOver()) {
            if (isFresh(known)) {
                return known;
            }
            if (!known.isExpired(client.nanoTime())) {
                if (!extend(known, List.of(), deadline).refused().isEmpty()) {
                    // The login has lost its right to the lock the session was opened for; perhaps it has one to this.
                    known.setReadable(readable);
                    extend(known, List.of(), deadline).key(readable);
                }
                if (isFresh(known)) {
                    return known;
                }
                if (!known.isOver() && !known.isExpired(client.nanoTime())) {
                    // Others may hold locks through it yet: theirs is not to be lost because ours cannot be had.
                    throw RpcFailure.unavailable("etcd is changing its leader, the lease waits for it");
                }
            }
            lose(known, LossReason.EXPIRED, "its " + known + " was not extended in time");
        }
        Session session = ttlClass == GIVEN
                ? leases.adopt(settings.lease().orElseThrow(), readable, deadline)
                : leases.grant(ttlClass, Session.Kind.COMMON, readable, deadline);
        common.put(ttlClass, session);
        open(session);
        return session;
    }

    private void requireTtl(Session session, String lockName, Duration ttl) {
        if (session.kind() == Session.Kind.GIVEN && ttl.compareTo(session.ttl()) > 0) {
            throw new UnsupportedLockException(
                    lockName,
                    "its ttl of " + DurationText.of(ttl) + " is longer than that of the given lease, "
                            + DurationText.of(session.ttl()));
        }
    }

    private void open(Session session) {
        all.add(session);
        writeOwnKey(session);
        session.setWatch(client.watch(keys.session(session.lease()), ByteString.EMPTY, new OwnKeyWatcher(session)));
        sweeper.plan();
    }

    void writeOwnKey(Session session) {
        PutRequest put = PutRequest.newBuilder()
                .setKey(keys.session(session.lease()))
                .setValue(ByteString.copyFromUtf8(context.clientName()))
                .setLease(session.lease())
                .build();
        client.callAsync(KVGrpc.getPutMethod(), put).whenComplete((answer, failure) -> {
            if (failure == null) {
                session.markOwnKey(Session.OwnKey.WRITTEN);
            } else if (RpcFailure.causeOf(failure)
                    .filter(RpcFailure::isForbidden)
                    .isPresent()) {
                session.markOwnKey(Session.OwnKey.FORBIDDEN);
            }
        });
    }

    /** Hears of a session's own key: gone if the lease is, changed by a forced release. Called on the stream's thread only. */
    private final class OwnKeyWatcher implements WatchHub.Watcher {

        private final Session session;

        OwnKeyWatcher(Session session) {
            this.session = session;
        }

        /** What happened before, or during a gap, shows in the keys. */
        @Override
        public void opened(long revision) {
            if (!session.isUnused()) {
                checkHeld(session);
            }
        }

        @Override
        public void changed(List<Event> events) {
            for (Event event : events) {
                if (event.getType() == Event.EventType.DELETE) {
                    lose(session, LossReason.GONE, "its " + session + " was revoked or has expired");
                } else {
                    rewritten(event.getKv().getValue().toStringUtf8());
                }
            }
        }

        private void rewritten(String value) {
            if (value.startsWith(Keys.FORCED)) {
                String created = value.substring(Keys.FORCED.length());
                // The key may have moved since, or its move to this session may not be answered yet.
                all.stream()
                        .flatMap(Session::live)
                        .filter(key -> String.valueOf(key.revision()).equals(created))
                        .forEach(key ->
                                ticketKeys.lose(key, LossReason.FORCED, "an administrator released it by force"));
            }
        }
    }

    /** After a gap in the news of a session, in the background: looks whether what is held through it still is. */
    void checkHeld(Session session) {
        inBackground(() -> {
            List<TicketKey> held = session.live()
                    .filter(key -> key.ticket().state() == Ticket.State.HELD)
                    .toList();
            try {
                Deadline deadline = client.deadlineIn(settings.timeout());
                EtcdLeases.Finding finding =
                        extend(session, held.stream().map(TicketKey::bytes).toList(), deadline);
                for (TicketKey key : held) {
                    if (!finding.refused().containsKey(key.bytes())
                            && finding.key(key.bytes()).filter(key::isSame).isEmpty()) {
                        ticketKeys.lose(key, LossReason.GONE, "its key in etcd is gone");
                    }
                }
            } catch (RpcFailure failure) {
                LOG.log(Level.DEBUG, () -> "Could not check " + session + ": " + failure.getMessage());
            }
        });
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
        Deadline limit = client.deadlineIn(CLOSE_LIMIT);
        List<CompletableFuture<?>> revocations = new ArrayList<>();
        for (Session session : all) {
            if (session.kind() == Session.Kind.GIVEN) {
                clearGiven(session, limit);
            } else if (session.live().noneMatch(TicketKey::isTaken)) {
                revocations.add(leases.revokeAsync(session.lease()));
            }
            session.end();
        }
        leaving.forEach(session -> revocations.add(leases.revokeAsync(session.lease())));
        try {
            CompletableFuture.allOf(revocations.toArray(CompletableFuture[]::new))
                    .orTimeout(limit.remainingNanos(), TimeUnit.NANOSECONDS)
                    .join();
        } catch (RuntimeException e) {
            LOG.log(Level.DEBUG, "Leases could not be given back; they will expire", e);
        }
    }

    /**
     * Nobody revokes a lease of the user's: what is still on its way to it is kept from being written by the marker's going, and what
     * was written is deleted.
     */
    private void clearGiven(Session session, Deadline limit) {
        Set<TicketKey> left = keysBut(session, TicketKey::isTaken);
        try {
            if (session.marker().isPresent()) {
                leases.deleteMarker(session.marker().get(), limit);
            }
            if (ticketKeys.deleteAll(left, session, limit)) {
                return;
            }
        } catch (RpcFailure failure) {
            LOG.log(Level.DEBUG, "The marker of a closed client stays", failure);
        }
        if (!left.isEmpty()) {
            LOG.log(
                    Level.WARNING,
                    () -> "Closed without etcd's word on keys that may stay on the given " + session + ": "
                            + left.stream()
                                    .map(key -> key.ticket().name())
                                    .distinct()
                                    .toList());
        }
    }
}
