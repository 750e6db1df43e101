package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.grpc.Channel;
import io.grpc.Status;
import io.holdfast.Demand;
import io.holdfast.LeaseLostException;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.RequestOp;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Grant;
import io.holdfast.spi.QueueingStore;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/*
 * Locks in etcd: a line of keys per lock, ordered by create revision, each bound to a lease.
 *
 * The line. A ticket is a key below <prefix><name>/. Who came first has the lowest create revision; the rule who may hold
 * (Admission) is applied to the keys in that order. Foreign keys there, of Go's concurrency.Mutex or etcdctl lock, count as
 * exclusive; those clients in turn wait for every key with a lower create revision, so both stand in one line.
 *
 * One step each. Taking a place is one transaction that puts the key and reads who is ahead, as of the same revision.
 * Trying is one that puts the key only if the line is empty. Releasing is one that deletes the key if it still has the
 * create revision we know. The token is the create revision: grants that exclude each other are given in line order, so
 * the later has the larger one; it survives restarts because revisions do.
 *
 * What could break the promises, and what stands against it:
 *
 *   P1. The lease runs out while we count on it. The base of a grant is the moment before the request that last extended the
 *       session was sent, never that of the transaction that took the place (it extends nothing). What extends is proven
 *       to come from the true leader (Pulse).
 *   P1. A waiter's turn comes when its own key is gone already (its lease expired or was revoked; Jepsen's finding on
 *       etcd's own lock). If the lease expired, the base tells: the engine does not accept a grant past its deadline and
 *       confirms an old one. If it was revoked, the session's watch tells; when the key ahead was of the same session, which
 *       goes at the same revision, the wait looks once more (Wait). Only keys deleted by hand, the one ahead and ours at
 *       one stroke, go unnoticed until the next renewal: as for any key deleted by hand while held.
 *   P1. The watch opens after the key ahead is gone. It says from which revision on it sees; if that is later than what
 *       we read, we read again (WatchHub).
 *   P1. The one ahead goes while somebody further ahead stays (a waiter gave up). Only if the one ahead was the first is its
 *       going enough (Standing.whole).
 *   P1. A key ahead appears after we looked. Impossible: create revisions only grow, and a rewritten key keeps its own.
 *   P1. What was read says that nobody wants a key, and it is held, or lingers, on another lease by the time it is deleted. No
 *       delete is without a condition (Sessions.deleteNow).
 *   P2. A lease extended beyond its session's ttl moves to a lease of its own by a put on the same key, which keeps the create
 *       revision; so do a downgrade and lingering.
 *   P3. A release that arrives late, or twice, finds another create revision or no key: ids are never used again.
 *   P3. Two renewals overtake each other: both extend the same lease to now + ttl; the base kept is the later send. One that
 *       finds the key moved by the other settles nothing.
 *   P4. A dead client's lease expires, and with it all its keys, at one revision. Those behind look again.
 *   P7. The answer to a transaction never comes, and it is applied now or much later. The place is in doubt: withdraw deletes
 *       its key, and the sweep of the session finds whatever turns up afterwards (Sessions).
 *   P7. A move to another lease with its answer missing: the next renewal reads which lease the key has, and follows, or
 *       sees to it that the move is not made any more (Moves).
 *   P7. "Database space exceeded" may be said of a transaction that was applied: the key is deleted at once, which works
 *       without space, and only then is the request called refused.
 *   A release that is to linger fails: the key stays where it is until it has lingered (SessionRounds), or until a repeated
 *       release finds it a lease of its own.
 *   P8. Keys go on release, withdrawal, or with the lease; there are no counters.
 */
final class EtcdStore implements QueueingStore, DowngradingStore, AdministeredStore {

    /** etcd's own minimum with its default election timeout; it raises shorter ones, silently. */
    private static final Duration MIN_TTL = Duration.ofSeconds(2);

    private static final Duration MAX_TTL = Duration.ofDays(365);

    /** How often a session that turns out to be gone is replaced within one request. */
    private static final int SESSIONS_PER_REQUEST = 3;

    private final StoreContext context;
    private final StoreTraits traits;
    private final Keys keys;
    private final EtcdClient client;
    private final WatchHub hub;
    private final Sessions sessions;
    private final LineViews views;
    private final Renewals renewals;

    EtcdStore(EtcdSettings settings, @Nullable Channel given, StoreContext context) {
        this.context = context;
        this.traits = StoreTraits.of(settings.display()).withTtls(MIN_TTL, MAX_TTL);
        this.keys = new Keys(settings.prefix());
        this.client = new EtcdClient(settings, given, context);
        this.hub = new WatchHub(client, context);
        this.sessions = new Sessions(settings, client, hub, context, keys);
        this.views = new LineViews(client, keys);
        this.renewals = new Renewals(sessions, new Moves(sessions, client));
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    @Override
    public Answer attempt(Request request, Deadline deadline) {
        ByteString line = keys.line(request.name());
        return take(request, null, deadline, (place, put) -> {
            boolean alone = request.demand() instanceof Demand.Exclusive;
            TxnRequest txn = TxnRequest.newBuilder()
                    .addCompare(Txns.nothingBelow(line))
                    .addSuccess(put)
                    .addFailure(Txns.read(alone ? Txns.first(line) : Txns.line(line)))
                    .build();
            TxnResponse response = send(txn, deadline);
            while (!response.getSucceeded()) {
                List<KeyValue> ahead =
                        response.getResponses(0).getResponseRange().getKvsList();
                long revision = response.getHeader().getRevision();
                Standing standing = Standing.ofLine(ahead, place.key(), request.demand(), revision);
                if (!standing.admits(request.demand())) {
                    sessions.forget(place);
                    return new Answer.Refused(LineViews.reason(ahead));
                }
                // Others hold it beside whom we may: take it if nobody has come since.
                response = send(
                        txn.toBuilder()
                                .setCompare(0, Txns.nothingNewBelow(line, revision))
                                .build(),
                        deadline);
            }
            return granted(place, response.getHeader().getRevision());
        });
    }

    @Override
    public Answer enqueue(Request request, TicketListener listener, Deadline deadline) {
        ByteString line = keys.line(request.name());
        return take(request, listener, deadline, (place, put) -> {
            ByteString value = put.getRequestPut().getValue();
            long lease = put.getRequestPut().getLease();
            TxnResponse response = send(Standing.enqueue(line, place.key(), value, lease, request.demand()), deadline);
            if (!response.getSucceeded()) {
                throw RpcFailure.of(Status.ALREADY_EXISTS.withDescription("somebody else wrote its key"), false);
            }
            long revision = response.getHeader().getRevision();
            Standing standing = Standing.ofEnqueue(response, place.key(), request.demand());
            if (standing.admits(request.demand())) {
                return granted(place, revision);
            }
            return queued(place, revision, new Wait(place, line, standing, client, hub, context));
        });
    }

    /** Sends a request that needs a key, with a session that is really there, and settles its place if it fails. */
    private Answer take(
            Request request,
            @Nullable TicketListener listener,
            Deadline deadline,
            BiFunction<Place, RequestOp, @Nullable Answer> step) {
        for (int i = 1; ; i++) {
            Place place = enter(request, listener, deadline);
            RequestOp put = Txns.put(
                    place.key(), place.note().toValue(), place.session().lease());
            try {
                Answer answer = step.apply(place, put);
                if (answer != null) {
                    return answer;
                }
            } catch (RpcFailure failure) {
                RpcFailure settled = settle(place, failure, deadline);
                if (!settled.isLeaseNotFound() || i >= SESSIONS_PER_REQUEST) {
                    throw settled.about(request.name());
                }
                sessions.lose(place.session(), LossReason.GONE, "etcd no longer knows its " + place.session());
            }
            if (i >= SESSIONS_PER_REQUEST) {
                throw new StoreUnavailableException(request.name(), "its sessions end as soon as they are opened");
            }
        }
    }

    private Place enter(Request request, @Nullable TicketListener listener, Deadline deadline) {
        TicketNote note = new TicketNote(
                request.demand(),
                request.owner().toString(),
                Optional.of(request.origin()),
                Optional.of(Instant.now()));
        try {
            while (true) {
                Session session = sessions.obtain(request.name(), request.ttl(), deadline);
                ByteString key = keys.ticket(request.name(), session.nextId());
                Place place = new Place(request, key, session, note, listener, context.losses());
                if (sessions.enter(place)) {
                    return place;
                }
            }
        } catch (RpcFailure failure) {
            throw failure.about(request.name());
        }
    }

    /** Null if its session ended meanwhile, and the key with it. */
    private @Nullable Answer granted(Place place, long revision) {
        return place.holds(revision) ? new Answer.Granted(place.grant()) : null;
    }

    private @Nullable Answer queued(Place place, long revision, Wait wait) {
        place.waiting(wait);
        if (!place.waits(revision)) {
            return null;
        }
        Ticket ticket = new Ticket(place.request(), place.session().ttl(), place.baseNanos(), place);
        wait.start();
        if (place.state() == Place.State.OVER) {
            wait.close();
        }
        return new Answer.Queued(ticket);
    }

    /** Makes up its mind whether anything may be left of a failed request. */
    private RpcFailure settle(Place place, RpcFailure failure, Deadline deadline) {
        place.end();
        if (failure.isNotApplied()) {
            sessions.forget(place);
            return failure;
        }
        sessions.doubt(place);
        if (failure.isOutOfSpace()) {
            try {
                // It was answered, so it is not on its way any more: after this nothing is left for certain.
                sessions.deleteNow(place.key(), deadline, place.isThere());
                sessions.forget(place);
                return new RpcFailure(RpcFailure.Fate.NOT_APPLIED, failure);
            } catch (RpcFailure again) {
                failure.addSuppressed(again);
            }
        }
        return failure;
    }

    @Override
    public List<RenewalAnswer> renew(List<RenewalRequest> claims, Deadline deadline) {
        return renewals.renew(claims, deadline);
    }

    @Override
    public ReleaseAnswer release(Grant grant, Duration linger, Deadline deadline) {
        Place place = placeOf(grant);
        boolean lingers = linger.compareTo(Duration.ZERO) > 0;
        if (lingers) {
            place.lingerUntil(context.time().nanoTime() + linger.toNanos());
        } else {
            place.end();
        }
        try {
            boolean released = lingers ? linger(place, linger, deadline) : deleteIfOurs(place, deadline);
            place.end();
            sessions.forget(place);
            return released ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
        } catch (RpcFailure failure) {
            if (!lingers) {
                sessions.doubt(place);
            }
            throw failure.about(grant.request().name());
        }
    }

    private boolean deleteIfOurs(Place place, Deadline deadline) {
        TxnRequest txn = TxnRequest.newBuilder()
                .addCompare(Txns.createdAt(place.key(), place.revision()))
                .addSuccess(Txns.delete(place.key()))
                .build();
        return send(txn, deadline).getSucceeded();
    }

    /** The key stays, on a lease that ends by itself, or more exactly when we end it. */
    private boolean linger(Place place, Duration linger, Deadline deadline) {
        Session own = sessions.openLingering(linger.plusSeconds(1), deadline);
        TxnRequest txn = TxnRequest.newBuilder()
                .addCompare(Txns.createdAt(place.key(), place.revision()))
                .addSuccess(Txns.put(place.key(), place.note().lingering().toValue(), own.lease()))
                .build();
        boolean maybeOurs = true;
        try {
            maybeOurs = send(txn, deadline).getSucceeded();
            return maybeOurs;
        } finally {
            long endNanos = maybeOurs ? context.time().nanoTime() + linger.toNanos() : own.baseNanos();
            context.timer().at(endNanos, () -> sessions.revoke(own.lease()));
        }
    }

    @Override
    public Withdrawal withdraw(Request request, Deadline deadline) {
        Place place = sessions.find(request.owner());
        if (place == null) {
            return Withdrawal.NOT_FOUND;
        }
        boolean known = place.revision() > 0;
        place.end();
        sessions.doubt(place);
        try {
            if (sessions.deleteNow(place.key(), deadline, place.isThere())) {
                sessions.forget(place);
                return Withdrawal.REMOVED;
            }
        } catch (RpcFailure failure) {
            throw failure.about(request.name());
        }
        if (known) {
            // It was there, it is gone, and its id is never used again.
            sessions.forget(place);
        }
        return Withdrawal.NOT_FOUND;
    }

    @Override
    public Grant downgrade(Grant exclusive, Deadline deadline) {
        Place place = placeOf(exclusive);
        TicketNote shared = place.note().withDemand(Demand.shared());
        TxnRequest txn = TxnRequest.newBuilder()
                .addCompare(Txns.createdAt(place.key(), place.revision()))
                .addSuccess(Txns.rewrite(place.key(), shared.toValue()))
                .build();
        String name = exclusive.request().name();
        try {
            if (!send(txn, deadline).getSucceeded()) {
                throw new LeaseLostException(name, exclusive.token(), "its key in etcd is gone");
            }
        } catch (RpcFailure failure) {
            throw failure.about(name);
        }
        place.note(shared);
        Request old = exclusive.request();
        Request request = new Request(old.name(), old.owner(), Demand.shared(), old.ttl(), old.origin());
        return new Grant(request, exclusive.token(), exclusive.ttl(), exclusive.baseNanos(), place);
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        try {
            int freed = 0;
            for (KeyValue holder : views.holders(name, deadline)) {
                ByteString session = keys.session(holder.getLease());
                ByteString news = ByteString.copyFromUtf8(SessionWatcher.FORCED).concat(holder.getKey());
                TxnRequest.Builder tell = TxnRequest.newBuilder()
                        .addCompare(Txns.present(session))
                        .addSuccess(Txns.rewrite(session, news));
                TxnRequest txn = TxnRequest.newBuilder()
                        .addCompare(Txns.createdAt(holder.getKey(), holder.getCreateRevision()))
                        .addSuccess(Txns.delete(holder.getKey()))
                        .addSuccess(Txns.nested(tell))
                        .build();
                freed += send(txn, deadline).getSucceeded() ? 1 : 0;
            }
            return freed;
        } catch (RpcFailure failure) {
            throw failure.about(name);
        }
    }

    /** Tokens are revisions: there are no counters to clear away. */
    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return 0;
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        try {
            return views.view(name, deadline);
        } catch (RpcFailure failure) {
            throw unavailable(name, failure);
        }
    }

    @Override
    public List<LockView> views(String prefix, Deadline deadline) {
        try {
            return views.views(prefix, deadline);
        } catch (RpcFailure failure) {
            throw unavailable(prefix, failure);
        }
    }

    /** Reading changes nothing, so its outcome is never in doubt. */
    private static LockException unavailable(String name, RpcFailure failure) {
        return new RpcFailure(RpcFailure.Fate.NOT_APPLIED, failure).about(name);
    }

    private TxnResponse send(TxnRequest txn, Deadline deadline) {
        return client.call(KVGrpc.getTxnMethod(), txn, EtcdClient.Repeat.NEVER, deadline);
    }

    private static Place placeOf(Grant grant) {
        if (grant.handle() instanceof Place place) {
            return place;
        }
        throw new IllegalArgumentException("a grant of another store");
    }

    @Override
    public void close() {
        sessions.close();
        hub.close();
        client.close();
    }
}
