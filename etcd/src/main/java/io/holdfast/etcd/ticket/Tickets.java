package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.client.WatchHub;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import io.holdfast.etcd.layout.Keys;
import io.holdfast.etcd.layout.TicketValue;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.etcd.session.Session;
import io.holdfast.etcd.session.Sessions;
import io.holdfast.etcd.session.TicketKey;
import io.holdfast.etcd.session.TicketKeys;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/*
 * Lets tickets into queues and takes them out.
 *
 * The queue. A ticket is a key below <prefix><name>/, bound to a lease. Who came first has the lowest create revision; the rule
 * who may hold (Admission) is applied to the keys in that order. Foreign keys there, of Go's concurrency.Mutex or etcdctl lock,
 * count as exclusive; those clients in turn wait for every key with a lower create revision, so all are in one queue.
 *
 * One step each. Queueing is one transaction that puts the key and reads who is ahead, as of the same revision. Trying is one
 * that puts the key only if the queue is empty. Releasing is one that deletes the key if it still has the create revision we
 * know. The token is the create revision: grants that exclude each other are given in the order of the queue, so the later has
 * the larger one; it survives restarts because revisions do.
 *
 * What could break the promises, and what stands against it:
 *
 *   P1. The lease runs out while we count on it. The base of a grant is the moment before the request that last extended the
 *       session was sent, never that of the transaction that wrote the key (it extends nothing). What extends is proven
 *       to come from the true leader (ProvenKeepAlive).
 *   P1. A waiter's turn comes when its own key is gone already (its lease expired or was revoked; Jepsen's finding on etcd's own
 *       lock). If the lease expired, the base tells: a ticket does not become held past its deadline. If it was revoked, the
 *       session's watch tells; when the key ahead was of the same session, which goes at the same revision, the wait looks
 *       once more (PredecessorWatch). Only keys deleted by hand, the one ahead and ours at one stroke, go unnoticed until the next
 *       renewal: as for any key deleted by hand while held.
 *   P1. The watch opens after the key ahead is gone. It says from which revision on it sees; if that is later than what
 *       we read, we read again (WatchHub).
 *   P1. The one ahead goes while somebody further ahead stays (a waiter gave up). Only if the one ahead was the first is its
 *       going enough (Predecessors.complete).
 *   P1. A key ahead appears after we looked. Impossible: create revisions only grow, and a rewritten key keeps its own.
 *   P1. What was read says that nobody wants a key, and it is held, or lingers, on another lease by the time it is deleted. No
 *       delete is without a condition (TicketKeys).
 *   P2. A lease extended beyond its session's ttl moves to a session of its own by a put on the same key, which keeps the create
 *       revision; so do a downgrade and lingering.
 *   P3. A release that arrives late, or twice, finds another create revision or no key: ids are never used again.
 *   P3. Two renewals overtake each other: both extend the same lease to now + ttl, and the ticket's deadline only moves on. One
 *       that finds the key moved by the other reports failing.
 *   P4. A dead client's lease expires, and with it all its keys, at one revision. Those behind look again.
 *   P5. The session ends while the request that writes the key is under way. The ticket has been told nothing, so the request
 *       is sent again with another session and another key; a session that ends after the ticket was told tells it
 *       (TicketKey.startReporting). Never both.
 *   P7. The answer to a transaction never comes, and it is applied now or much later. The key is unwanted: withdraw deletes it,
 *       and the sweep of the session finds whatever turns up afterwards (SessionSweeper).
 *   P7. A move to another lease with its answer missing: the next renewal reads which lease the key has, and follows, or
 *       sees to it that the move is not made any more (SessionMoves).
 *   P7. "Database space exceeded" may be said of a transaction that was applied: the key is deleted at once, which works
 *       without space, and only then is the request called refused.
 *   A release that is to linger fails: the key stays where it is until it has lingered (SessionSweeper), or until a repeated
 *       release finds it a lease of its own.
 *   P8. Keys go on release, withdrawal, or with the lease; there are no counters.
 */
public final class Tickets {

    /** How often a session that turns out to be gone is replaced within one request. */
    private static final int SESSIONS_PER_REQUEST = 3;

    private final StoreContext context;
    private final Keys keys;
    private final EtcdClient client;
    private final WatchHub hub;
    private final Sessions sessions;
    private final TicketKeys ticketKeys;

    public Tickets(StoreContext context, Keys keys, EtcdClient client, WatchHub hub, Sessions sessions) {
        this.context = context;
        this.keys = keys;
        this.client = client;
        this.hub = hub;
        this.sessions = sessions;
        this.ticketKeys = sessions.ticketKeys();
    }

    /** Writes a key in a session that is really there, and tells the ticket what that brought. */
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        for (int tries = 1; ; tries++) {
            TicketKey key = enter(ticket, deadline);
            try {
                return mode == Mode.TRY ? attempt(key, deadline) : enqueue(key, deadline);
            } catch (RpcFailure failure) {
                RpcFailure settled = settle(key, failure, deadline);
                if (!settled.isLeaseNotFound() || tries == SESSIONS_PER_REQUEST) {
                    throw settled;
                }
                sessions.lose(key.session(), LossReason.GONE, "etcd no longer knows its " + key.session());
            }
        }
    }

    private TicketKey enter(Ticket ticket, Deadline deadline) {
        while (true) {
            Session session = sessions.obtain(ticket.name(), ticket.ttl(), deadline);
            TicketKey key = new TicketKey(ticket, keys.ticket(ticket.name(), session.nextId()), session);
            ticket.attach(key);
            if (session.enter(key)) {
                return key;
            }
        }
    }

    private Optional<Refusal> attempt(TicketKey key, Deadline deadline) {
        ByteString queue = keys.queue(key.ticket().name());
        Demand demand = key.ticket().demand();
        TxnRequest txn = TxnRequest.newBuilder()
                .addCompare(Txns.nothingBelow(queue))
                .addSuccess(key.put(key.session()))
                .addFailure(Txns.read(demand instanceof Demand.Exclusive ? Txns.first(queue) : Txns.queue(queue)))
                .build();
        TxnResponse response = send(txn, deadline);
        while (!response.getSucceeded()) {
            List<KeyValue> ahead = response.getResponses(0).getResponseRange().getKvsList();
            long revision = response.getHeader().getRevision();
            if (!Predecessors.inQueue(ahead, key.bytes(), demand, revision).admits(demand)) {
                ticketKeys.forget(key);
                return Optional.of(new Refusal(reason(ahead.get(0))));
            }
            // Others hold it beside whom we may: take it if nobody has come since.
            response = send(
                    txn.toBuilder()
                            .setCompare(0, Txns.nothingNewBelow(queue, revision))
                            .build(),
                    deadline);
        }
        startReporting(key, response);
        key.reportGrant();
        return Optional.empty();
    }

    private static String reason(KeyValue first) {
        return TicketValue.read(first.getValue())
                .origin()
                .map(origin -> "held by " + origin)
                .orElse("held by another client's key " + first.getKey().toStringUtf8());
    }

    private Optional<Refusal> enqueue(TicketKey key, Deadline deadline) {
        ByteString queue = keys.queue(key.ticket().name());
        Demand demand = key.ticket().demand();
        TxnResponse response = send(Predecessors.enqueue(queue, key.bytes(), key.put(key.session()), demand), deadline);
        if (!response.getSucceeded()) {
            throw RpcFailure.unavailable("somebody else wrote its key");
        }
        Predecessors predecessors = Predecessors.ofEnqueue(response, key.bytes(), demand);
        if (predecessors.admits(demand)) {
            startReporting(key, response);
            key.reportGrant();
        } else {
            PredecessorWatch watch = new PredecessorWatch(key, queue, predecessors, client, hub, context);
            key.waitBy(watch);
            startReporting(key, response);
            key.ticket().waiting(key.session().ttl(), key.session().baseNanos());
            watch.start();
        }
        return Optional.empty();
    }

    private static void startReporting(TicketKey key, TxnResponse written) {
        if (!key.startReporting(written.getHeader().getRevision())) {
            throw RpcFailure.sessionEnded();
        }
    }

    /** Makes up its mind whether anything may be left of a failed request. */
    private RpcFailure settle(TicketKey key, RpcFailure failure, Deadline deadline) {
        if (failure.isNotApplied()) {
            ticketKeys.forget(key);
            return failure;
        }
        ticketKeys.abandon(key);
        if (failure.isOutOfSpace()) {
            try {
                // It was answered, so it is not on its way any more: after this nothing is left for certain.
                ticketKeys.delete(key.bytes(), deadline, key.isThere());
                ticketKeys.forget(key);
                return failure.asNotApplied();
            } catch (RpcFailure again) {
                failure.addSuppressed(again);
            }
        }
        return failure;
    }

    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        Optional<TicketKey> known = ticket.handle(TicketKey.class);
        if (known.isEmpty()) {
            return ReleaseAnswer.NOT_HELD;
        }
        TicketKey key = known.get();
        boolean lingers = linger.compareTo(Duration.ZERO) > 0;
        if (lingers) {
            key.lingerUntil(context.time().nanoTime() + linger.toNanos());
        }
        try {
            boolean released = lingers ? linger(key, linger, deadline) : deleteIfOurs(key, deadline);
            ticketKeys.forget(key);
            return released ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
        } catch (RpcFailure failure) {
            if (!lingers) {
                ticketKeys.abandon(key);
            }
            throw failure;
        }
    }

    private boolean deleteIfOurs(TicketKey key, Deadline deadline) {
        TxnRequest txn = TxnRequest.newBuilder()
                .addCompare(Txns.createdAt(key.bytes(), key.revision()))
                .addSuccess(Txns.delete(key.bytes()))
                .build();
        return send(txn, deadline).getSucceeded();
    }

    /** The key stays, on a lease that ends by itself, or more exactly when we end it. */
    private boolean linger(TicketKey key, Duration linger, Deadline deadline) {
        Session own = sessions.openLingering(linger.plusSeconds(1), deadline);
        TxnRequest txn = TxnRequest.newBuilder()
                .addCompare(Txns.createdAt(key.bytes(), key.revision()))
                .addSuccess(key.put(own))
                .build();
        boolean maybeOurs = true;
        try {
            maybeOurs = send(txn, deadline).getSucceeded();
            return maybeOurs;
        } finally {
            long endNanos = maybeOurs ? context.time().nanoTime() + linger.toNanos() : own.baseNanos();
            sessions.endLingering(own, endNanos);
        }
    }

    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        Optional<TicketKey> known =
                ticket.handle(TicketKey.class).filter(key -> key.session().has(key));
        if (known.isEmpty()) {
            return Withdrawal.NOT_FOUND;
        }
        TicketKey key = known.get();
        ticketKeys.abandon(key);
        boolean removed = ticketKeys.delete(key.bytes(), deadline, key.isThere());
        if (removed || key.revision() > 0) {
            // It was there, it is gone, and its id is never used again.
            ticketKeys.forget(key);
        }
        return removed ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }

    public void downgrade(Ticket ticket, Deadline deadline) {
        TicketKey key = ticket.handle(TicketKey.class)
                .orElseThrow(() -> new IllegalArgumentException("a ticket of another store"));
        TxnRequest txn = TxnRequest.newBuilder()
                .addCompare(Txns.createdAt(key.bytes(), key.revision()))
                .addSuccess(key.rewriteAs(Demand.shared()))
                .build();
        if (send(txn, deadline).getSucceeded()) {
            ticket.downgraded();
        } else {
            ticketKeys.lose(key, LossReason.GONE, "its key in etcd is gone");
        }
    }

    private TxnResponse send(TxnRequest txn, Deadline deadline) {
        return client.call(KVGrpc.getTxnMethod(), txn, EtcdClient.Repeat.NEVER, deadline);
    }
}
