package io.holdfast.etcd.session;

import com.google.protobuf.ByteString;
import io.holdfast.LossReason;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.RequestOp;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/*
 * Keeps tickets: per session one keep-alive and one read of all their keys. For an extension beyond the ttl of its session a key goes
 * to a session of its own.
 *
 * A move whose answer is missing may be made much later: when the key has moved elsewhere, or when the lease it has is counted
 * on while the one it would move to runs out. So a move is for the key as it was last read (its mod revision), and a renewal that
 * finds one not made rewrites the key as it is before it counts: from then on the move comes too late.
 *
 * A key that has moved belongs to its former session until the answer comes. The new lease may end before that: its session tells
 * those who are in it, and takes nobody in afterwards (Session.enter), so whoever moves the key there tells its ticket. Of a forced
 * release the session of the lease is told that the key had when the administrator looked: the key is looked for in all. That walk
 * may miss a key that goes from one to the other, and the own key of a new session may not be watched yet: so once a key has moved
 * the server is asked whether it is still there.
 *
 * The ticket may end while its key moves. Whoever ends it deletes the key by its create revision, on whatever lease it is, and
 * gives back the session it may have moved to (TicketKeys.forget). If nobody does, the key's time is up all the same.
 */
public final class Renewals {

    private final Sessions sessions;
    private final TicketKeys ticketKeys;
    private final EtcdClient client;

    public Renewals(Sessions sessions, EtcdClient client) {
        this.sessions = sessions;
        this.ticketKeys = sessions.ticketKeys();
        this.client = client;
    }

    public void renew(List<Ticket> tickets, Deadline deadline) {
        Map<Session, Deque<TicketKey>> bySession = new LinkedHashMap<>();
        for (Ticket ticket : tickets) {
            keyOf(ticket).ifPresent(key -> {
                Deque<TicketKey> batch = bySession.computeIfAbsent(key.session(), session -> new ArrayDeque<>());
                // One that may have moved makes a request of its own, for which no other is to wait.
                if (key.movesTo() == null) {
                    batch.addFirst(key);
                } else {
                    batch.addLast(key);
                }
            });
        }
        bySession.forEach((session, batch) -> renew(session, batch, deadline));
    }

    private void renew(Session session, Collection<TicketKey> batch, Deadline deadline) {
        Map<TicketKey, Optional<KeyValue>> reliedOn = new LinkedHashMap<>();
        batch.forEach(key -> reliedOn.put(key, key.waiting().flatMap(TicketKey.Waiting::reliesOn)));
        EtcdLeases.Finding finding;
        try {
            finding = sessions.extend(session, keysToRead(reliedOn), deadline);
        } catch (RpcFailure failure) {
            batch.forEach(key -> reportFailing(key, failure));
            return;
        }
        reliedOn.forEach((key, ahead) -> {
            try {
                report(key, session, finding, deadline);
                key.waiting()
                        .ifPresent(queue -> queue.check(key, ahead, ahead.flatMap(kv -> finding.key(kv.getKey()))));
            } catch (RpcFailure failure) {
                reportFailing(key, failure);
            }
        });
    }

    /** @throws RpcFailure if the ticket is as it was */
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        Optional<TicketKey> known = keyOf(ticket);
        if (known.isEmpty()) {
            return;
        }
        TicketKey key = known.get();
        // Two at once would not know of each other's move.
        if (!EtcdClient.tryLock(key.moving(), deadline)) {
            throw RpcFailure.unavailable("another extension is under way");
        }
        try {
            extend(key, ttl, deadline);
        } finally {
            key.moving().unlock();
        }
    }

    private void extend(TicketKey key, Duration ttl, Deadline deadline) {
        Session session = key.session();
        report(key, session, sessions.extend(session, List.of(key.bytes()), deadline), deadline);
        if (key.ticket().state() == Ticket.State.HELD && ttl.compareTo(session.ttl()) > 0) {
            toOwnSession(key, ttl, deadline);
        }
    }

    /** Empty if there is nothing to renew: the ticket is told so, or has ended. */
    private static Optional<TicketKey> keyOf(Ticket ticket) {
        Optional<TicketKey> key =
                ticket.handle(TicketKey.class).filter(known -> known.session().has(known));
        if (key.isEmpty()) {
            ticket.gone(LossReason.GONE, "its key in etcd is gone");
        }
        return ticket.state() == Ticket.State.ENDED ? Optional.empty() : key;
    }

    private static List<ByteString> keysToRead(Map<TicketKey, Optional<KeyValue>> reliedOn) {
        List<ByteString> keys = new ArrayList<>();
        reliedOn.forEach((key, ahead) -> {
            keys.add(key.bytes());
            ahead.map(KeyValue::getKey).ifPresent(keys::add);
        });
        return keys;
    }

    /** @throws RpcFailure if what was found says neither that the ticket is kept nor that it is gone */
    private void report(TicketKey key, Session session, EtcdLeases.Finding finding, Deadline deadline) {
        Optional<KeyValue> found = finding.key(key.bytes());
        if (found.filter(key::isSame).isEmpty()) {
            key.reportGone();
            ticketKeys.forget(key);
            return;
        }
        long lease = found.get().getLease();
        Session movesTo = key.movesTo();
        if (movesTo != null && lease == movesTo.lease()) {
            // A move whose answer has not come had been made.
            move(key, movesTo);
        }
        if (key.session() != session) {
            // The next renewal extends the right lease.
            throw RpcFailure.unavailable("its key has just moved to another lease");
        }
        if (lease != session.lease()) {
            ticketKeys.lose(key, LossReason.GONE, "somebody bound its key in etcd to another lease");
            return;
        }
        if (finding.verdict() != EtcdLeases.Verdict.EXTENDED) {
            throw RpcFailure.unavailable("etcd is changing its leader, so the renewal proves nothing");
        }
        key.changedAt(found.get().getModRevision());
        if (movesTo != null) {
            preclude(key, session, movesTo, deadline);
        }
        key.reportKept(session, finding.baseNanos());
    }

    /** What was told of the key while its move was not answered may have been told to nobody: so it is looked at. */
    private void move(TicketKey key, Session to) {
        ticketKeys.move(key, to);
        sessions.checkHeld(to);
    }

    private static void reportFailing(TicketKey key, RpcFailure failure) {
        key.ticket().failing(failure.about(key.ticket().name()));
    }

    /** Gives a key a session of its own, long enough. */
    private void toOwnSession(TicketKey key, Duration ttl, Deadline deadline) {
        Session own = sessions.openOwn(key.bytes(), ttl, deadline);
        key.beginMove(own);
        TxnResponse response = move(key, own, deadline);
        Optional<KeyValue> found = readIn(response);
        // A request may be made twice (a channel that repeats or hedges): then the second finds what the first has
        // done.
        boolean madeBefore = found.filter(key::isSame)
                .filter(kv -> kv.getLease() == own.lease())
                .isPresent();
        if (response.getSucceeded() || madeBefore) {
            move(key, own);
            // What was asked for; that etcd counts whole seconds shall not make it longer.
            key.ticket().extended(ttl, own.baseNanos());
            return;
        }
        ticketKeys.cancelMove(key);
        if (found.filter(key::isSame).isPresent()) {
            throw RpcFailure.unavailable("its key changed meanwhile");
        }
        ticketKeys.lose(key, LossReason.GONE, "its key in etcd is gone");
    }

    /** What a transaction read whose condition was not met. */
    private static Optional<KeyValue> readIn(TxnResponse response) {
        return response.getSucceeded()
                ? Optional.empty()
                : response.getResponses(0).getResponseRange().getKvsList().stream()
                        .findFirst();
    }

    private TxnResponse move(TicketKey key, Session own, Deadline deadline) {
        try {
            return changeAsLastRead(key, key.put(own), deadline);
        } catch (RpcFailure failure) {
            if (failure.isNotApplied()) {
                ticketKeys.cancelMove(key);
            }
            throw failure;
        }
    }

    /** Makes sure that a move that was not made never will be. */
    private void preclude(TicketKey key, Session session, Session movesTo, Deadline deadline) {
        TxnResponse response = changeAsLastRead(key, Txns.rewriteAsIs(key.bytes()), deadline);
        Optional<KeyValue> found = readIn(response);
        // Whoever changed it, perhaps this very request made twice: the move was for the key as it was before.
        boolean changedHere = found.filter(key::isSame)
                .filter(kv -> kv.getLease() == session.lease())
                .isPresent();
        if (!response.getSucceeded() && !changedHere) {
            throw RpcFailure.unavailable("its key changed meanwhile");
        }
        key.changedAt(
                found.map(KeyValue::getModRevision).orElse(response.getHeader().getRevision()));
        ticketKeys.cancelMove(key, movesTo);
    }

    /** Changes a key if it is as it was last read, else reads it. */
    private TxnResponse changeAsLastRead(TicketKey key, RequestOp change, Deadline deadline) {
        TxnRequest txn = Txns.ifAll(change, Txns.changedAt(key.bytes(), key.changeRevision())).toBuilder()
                .addFailure(Txns.read(Txns.key(key.bytes())))
                .build();
        return client.txn(txn, EtcdClient.Repeat.NEVER, deadline);
    }
}
