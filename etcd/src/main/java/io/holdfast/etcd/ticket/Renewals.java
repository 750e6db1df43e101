package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.LossReason;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.session.EtcdLeases;
import io.holdfast.etcd.session.Session;
import io.holdfast.etcd.session.SessionMoves;
import io.holdfast.etcd.session.Sessions;
import io.holdfast.etcd.session.TicketKey;
import io.holdfast.etcd.session.TicketKeys;
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

/** Keeps tickets: per session one keep-alive and one read of all their keys. */
public final class Renewals {

    private final Sessions sessions;
    private final TicketKeys ticketKeys;
    private final SessionMoves moves;

    public Renewals(Sessions sessions, SessionMoves moves) {
        this.sessions = sessions;
        this.ticketKeys = sessions.ticketKeys();
        this.moves = moves;
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
            moves.toOwnSession(key, ttl, deadline);
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
            ticketKeys.move(key, movesTo);
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
            moves.preclude(key, deadline);
        }
        key.reportKept(finding.baseNanos());
    }

    private static void reportFailing(TicketKey key, RpcFailure failure) {
        key.ticket().failing(failure.about(key.ticket().name()));
    }
}
