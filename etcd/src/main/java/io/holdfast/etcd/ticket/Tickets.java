package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.Renewal;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import io.holdfast.etcd.layout.Keys;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.etcd.session.EtcdLeases;
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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/*
 * Lets tickets into queues and takes them out.
 *
 * The queue. A ticket is a key below <prefix><name>/, bound to a lease. Who came first has the lowest create revision; the rule
 * who may hold (Admission) is applied to the keys in that order. Foreign keys there, of Go's concurrency.Mutex or etcdctl lock,
 * count as exclusive; those clients in turn wait for every key with a lower create revision, so all are in one queue.
 *
 * One step each. Queueing is one transaction that puts the key in an empty slot and counts the tickets, as of the same revision: if
 * there is one, or if this is a reader and all others are, the lock is held. Else the view of the queue decides (LockWaiters), or, for readers and permits, who may hold beside
 * others, first a listing: a listing that admits a ticket is proof enough, for nobody ever comes ahead of a ticket, and those
 * ahead only go, or turn from exclusive to shared. Trying is one transaction that puts the key only if there are no
 * tickets; readers and permits join, judge by a listing and withdraw. After a refusal a try asks first without writing.
 * Releasing is one transaction that deletes the key if it still has the create revision we know. The token is the create
 * revision: grants that exclude each other are given in the order of the queue, so the later has the larger one; it
 * survives restarts because revisions do.
 *
 * What could break the promises, and what stands against it:
 *
 *   P1. The lease runs out while we count on it. The base of a grant is the moment before the request that last extended the
 *       session was sent, never that of the transaction that wrote the key (it extends nothing). What extends is proven
 *       to come from the true leader (EtcdLeases).
 *   P1. A waiter's turn comes when its own key is gone already (its lease expired or was revoked; Jepsen's finding on etcd's own
 *       lock). If the lease expired, the base tells: a ticket does not become held past its deadline. If it was revoked, its
 *       key is not in the view.
 *   P1. A key ahead appears after we looked. Impossible: create revisions only grow, and a rewritten key keeps its own.
 *   P1. What was read says that nobody wants a key, and its slot has another user, or it is held, or lingers, on another lease by
 *       the time it is deleted. No delete is without a condition (TicketKeys).
 *   P2. A lease extended beyond its session's ttl moves to a session of its own by a put on the same key, which keeps the create
 *       revision; so do a downgrade and lingering.
 *   P3. A release that arrives late, or twice, finds another create revision or no key.
 *   P3. Two renewals overtake each other: both extend the same lease to now + ttl, and the ticket's deadline only moves on. One
 *       that finds the key moved by the other reports failing.
 *   P4. A dead client's lease expires, and with it all its keys, at one revision.
 *   P5. The session ends while the request that writes the key is under way. The ticket has been told nothing, so the request
 *       is sent again with another session; a session that ends after the ticket was told tells it
 *       (TicketKey.startReporting). Never both.
 *   P7. The answer to a transaction never comes, and it is applied now, much later, or twice (Slots). The key is unwanted: withdraw
 *       deletes it, by what it says, since another ticket of the same session may have the slot; and the sweep of the
 *       session finds whatever turns up afterwards (SessionSweeper). On a lease of the user's, which outlives the client, nothing is
 *       written once the client's marker is gone (Sessions.close).
 *   P7. A move to another lease with its answer missing: the next renewal reads which lease the key has, and follows, or
 *       sees to it that the move is not made any more (Renewals).
 *   P7. "Database space exceeded" may be said of a transaction that was applied: the key is deleted at once, which works
 *       without space, and only then is the request called refused.
 *   A release that is to linger fails: the key stays where it is until it has lingered (SessionSweeper), or until a repeated
 *       release finds it a lease of its own.
 *   P8. Keys go on release, withdrawal, or with the lease; there are no counters.
 */
public final class Tickets {

    /** How often a session that turns out to be gone is replaced within one request. */
    private static final int SESSIONS_PER_REQUEST = 3;

    /** How often slots are drawn within one request. The first answer says how many there must be to draw from. */
    private static final int MOST_DRAWS = 20;

    /** Of more locks than this it is not remembered that a try was refused, or how many there were. */
    private static final int MOST_REMEMBERED = 1000;

    private final Keys keys;
    private final EtcdClient client;
    private final StoreContext context;
    private final Sessions sessions;
    private final TicketKeys ticketKeys;
    private final Map<ByteString, LockWaiters> queues = new ConcurrentHashMap<>(); // that somebody waits in
    private final Remembered<String, Refusal> refused = new Remembered<>(MOST_REMEMBERED); // the last try
    private final Remembered<ByteString, Long> crowds =
            new Remembered<>(MOST_REMEMBERED); // by what their slots begin with

    public Tickets(StoreContext context, Keys keys, EtcdClient client, Sessions sessions) {
        this.context = context;
        this.keys = keys;
        this.client = client;
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
            TicketKey key = new TicketKey(ticket, session);
            ticket.attach(key);
            if (session.enter(key)) {
                return key;
            }
        }
    }

    private Optional<Refusal> attempt(TicketKey key, Deadline deadline) {
        Ticket ticket = key.ticket();
        boolean alone = ticket.demand() instanceof Demand.Exclusive;
        Optional<Refusal> refusal = Optional.empty();
        if (refused.of(ticket.name()).isPresent()) {
            refusal = alone ? ask(key, deadline) : judge(key, deadline);
        }
        if (refusal.isEmpty()) {
            refusal = alone ? joinIfFree(key, deadline) : joinOrWithdraw(key, deadline);
        }
        if (refusal.isPresent()) {
            ticketKeys.forget(key);
            refused.put(ticket.name(), refusal.get());
        } else {
            refused.forget(ticket.name());
            key.reportGrant();
        }
        return refusal;
    }

    /** Whether anybody is there, without writing. */
    private Optional<Refusal> ask(TicketKey key, Deadline deadline) {
        return client.range(Txns.any(queueOf(key)), deadline).getKvsList().stream()
                .findFirst()
                .map(QueueView.Entry::of)
                .map(Tickets::refusal);
    }

    /** Whether those who are there would let another in, without writing. */
    private Optional<Refusal> judge(TicketKey key, Deadline deadline) {
        QueueView view = QueueView.read(client, queueOf(key), deadline);
        return view.wouldAdmit(key.ticket().demand()) ? Optional.empty() : Optional.of(refusal(view.first()));
    }

    private Optional<Refusal> joinIfFree(TicketKey key, Deadline deadline) {
        ByteString queue = queueOf(key);
        key.aimAt(List.of(Slots.slot(key, queue, 0)));
        Slots.Outcome outcome = write(key, Slots.joinIfFree(key, queue), deadline);
        return outcome.mine().isPresent()
                ? Optional.empty()
                : Optional.of(refusal(outcome.other().map(QueueView.Entry::of)));
    }

    private Optional<Refusal> joinOrWithdraw(TicketKey key, Deadline deadline) {
        if (join(key, deadline).admitted()) {
            return Optional.empty();
        }
        QueueView view = QueueView.read(client, queueOf(key), deadline);
        if (view.admits(key.revision())) {
            return Optional.empty();
        }
        ticketKeys.withdraw(key, deadline);
        return Optional.of(refusal(view.first()));
    }

    private static Refusal refusal(Optional<QueueView.Entry> first) {
        return first.map(Tickets::refusal).orElseGet(() -> new Refusal("held by another client"));
    }

    private static Refusal refusal(QueueView.Entry other) {
        return new Refusal(other.value()
                .origin()
                .map(origin -> "held by " + origin)
                .orElse("held by another client's key " + other.key().getKey().toStringUtf8()));
    }

    private Optional<Refusal> enqueue(TicketKey key, Deadline deadline) {
        Slots.Outcome outcome = join(key, deadline);
        boolean alone = key.ticket().demand() instanceof Demand.Exclusive;
        if (outcome.admitted() || (!alone && isAdmitted(key, deadline))) {
            key.reportGrant();
            return Optional.empty();
        }
        key.ticket().waiting(key.session().ttl(), key.session().baseNanos());
        LockWaiters queue;
        do {
            queue = queues.computeIfAbsent(queueOf(key), this::newQueue);
            key.waitBy(queue);
        } while (!queue.join(key, outcome.count()));
        if (key.ticket().state() == Ticket.State.ENDED) {
            // Whoever ended it may have done so before there was a queue to leave.
            queue.leave(key);
        }
        return Optional.empty();
    }

    /** Who may hold beside others looks at once, unless there is a view that tells. */
    private boolean isAdmitted(TicketKey key, Deadline deadline) {
        LockWaiters known = queues.get(queueOf(key));
        if (known != null && known.seen() > 0) {
            return false;
        }
        try {
            return QueueView.read(client, queueOf(key), deadline).admits(key.revision());
        } catch (RpcFailure failure) {
            // It is in the queue, and will be told by the view.
            return false;
        }
    }

    private LockWaiters newQueue(ByteString queue) {
        return new LockWaiters(queue, client, context, closed -> queues.remove(queue, closed));
    }

    private ByteString queueOf(TicketKey key) {
        return keys.queue(key.ticket().name());
    }

    /** Gives a ticket a slot. */
    private Slots.Outcome join(TicketKey key, Deadline deadline) {
        ByteString queue = queueOf(key);
        ByteString start = Slots.startOf(key, queue);
        Optional<LockWaiters> known = Optional.ofNullable(queues.get(queue));
        int seen = known.map(LockWaiters::seen).orElse(0);
        long crowd = seen > 0 ? seen : crowds.of(start).orElse(0L);
        Set<ByteString> tried = new HashSet<>();
        for (int draws = 0; draws < MOST_DRAWS; draws++) {
            key.aimAt(Slots.draw(
                    key,
                    queue,
                    crowd,
                    slot -> tried.contains(slot)
                            || known.filter(view -> view.isTaken(slot)).isPresent()));
            ByteString first = key.slots().get(0);
            tried.addAll(key.slots());
            Slots.Outcome outcome = write(key, Slots.join(key, queue, seen == 0), deadline);
            if (outcome.mine().isPresent()) {
                if (draws == 0 && key.bytes().equals(first)) {
                    // The first slot of all was free, so there may be no crowd any more.
                    crowds.forget(start);
                }
                return outcome;
            }
            crowd = outcome.count();
            crowds.put(start, crowd);
        }
        throw RpcFailure.unavailable("found no free slot in its queue");
    }

    /** Sends what is to write a ticket, which is told from then on what becomes of its session if it did. */
    private Slots.Outcome write(TicketKey key, TxnRequest txn, Deadline deadline) {
        Optional<EtcdLeases.Answered> extension = extendIfOwed(key, deadline);
        TxnResponse response = send(txn, deadline);
        if (!Slots.wasMarked(response)) {
            throw RpcFailure.sessionEnded();
        }
        Slots.Outcome outcome = Slots.outcome(key, response);
        outcome.mine().ifPresent(written -> {
            extension
                    .filter(kept -> kept.isProvenBy(response.getHeader()))
                    .ifPresent(kept -> key.session().markExtended(kept.baseNanos()));
            if (!key.startReporting(written.getKey(), written.getCreateRevision())) {
                throw RpcFailure.sessionEnded();
            }
        });
        return outcome;
    }

    /** A ticket nobody will renew is owed its whole ttl, and its session was extended a while ago. Who waits is extended when it is let in. */
    private Optional<EtcdLeases.Answered> extendIfOwed(TicketKey key, Deadline deadline) {
        boolean owed = key.ticket().renewal() == Renewal.NONE
                && key.session().baseNanos() - key.ticket().baseNanos() < 0
                && !queues.containsKey(queueOf(key));
        try {
            return owed ? sessions.extendBeforeWrite(key.session(), deadline) : Optional.empty();
        } catch (RpcFailure failure) {
            // Whatever became of it, nothing was written.
            throw failure.asNotApplied();
        }
    }

    /** Makes up its mind whether anything may be left of a failed request. */
    private RpcFailure settle(TicketKey key, RpcFailure failure, Deadline deadline) {
        boolean written = key.revision() > 0;
        if (failure.isNotApplied() && !written) {
            ticketKeys.forget(key);
            return failure;
        }
        ticketKeys.abandon(key);
        if (failure.isOutOfSpace()) {
            try {
                // It was answered, so it is not on its way any more: after this nothing is left for certain.
                ticketKeys.withdraw(key, deadline);
                ticketKeys.forget(key);
                return failure.asNotApplied();
            } catch (RpcFailure again) {
                failure.addSuppressed(again);
            }
        }
        // What failed came after the ticket was written, unless its session has ended, and the ticket with it.
        return written && !failure.isLeaseNotFound() ? failure.asUnknown() : failure;
    }

    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        Optional<TicketKey> known = ticket.handle(TicketKey.class);
        if (known.isEmpty()) {
            return ReleaseAnswer.NOT_HELD;
        }
        TicketKey key = known.get();
        boolean lingers = linger.compareTo(Duration.ZERO) > 0;
        if (lingers) {
            key.lingerUntil(client.nanoTime() + linger.toNanos());
        }
        try {
            boolean released = lingers
                    ? linger(key, linger, deadline)
                    : send(Txns.ifAll(Txns.delete(key.bytes()), key.isThere()), deadline)
                            .getSucceeded();
            ticketKeys.forget(key);
            return released ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
        } catch (RpcFailure failure) {
            if (!lingers) {
                ticketKeys.abandon(key);
            }
            throw failure;
        }
    }

    /** The key stays, on a lease that ends by itself, or more exactly when we end it. */
    private boolean linger(TicketKey key, Duration linger, Deadline deadline) {
        Session own = sessions.openLingering(key, linger.plusSeconds(1), deadline);
        boolean maybeOurs = true;
        try {
            maybeOurs = send(Txns.ifAll(key.put(own), key.isThere()), deadline).getSucceeded();
            return maybeOurs;
        } finally {
            long endNanos = maybeOurs ? client.nanoTime() + linger.toNanos() : own.baseNanos();
            sessions.endLingering(own, endNanos);
        }
    }

    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        Optional<TicketKey> known = ticket.handle(TicketKey.class);
        if (known.isEmpty()) {
            return Withdrawal.NOT_FOUND;
        }
        TicketKey key = known.get();
        Optional<Withdrawal> withOthers = key.takeWithdrawal();
        if (withOthers.isPresent()) {
            return withOthers.get();
        }
        return key.session().has(key) ? ticketKeys.withdraw(key, deadline) : Withdrawal.NOT_FOUND;
    }

    public void downgrade(Ticket ticket, Deadline deadline) {
        TicketKey key = ticket.handle(TicketKey.class)
                .orElseThrow(() -> new IllegalArgumentException("a ticket of another store"));
        if (send(Txns.ifAll(key.rewriteAs(Demand.shared()), key.isThere()), deadline)
                .getSucceeded()) {
            ticket.downgraded();
        } else {
            ticketKeys.lose(key, LossReason.GONE, "its key in etcd is gone");
        }
    }

    private TxnResponse send(TxnRequest txn, Deadline deadline) {
        return client.txn(txn, EtcdClient.Repeat.NEVER, deadline);
    }
}
