package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.LossReason;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.session.ProvenKeepAlive;
import io.holdfast.etcd.session.Session;
import io.holdfast.etcd.session.SessionMoves;
import io.holdfast.etcd.session.Sessions;
import io.holdfast.etcd.session.TicketKey;
import io.holdfast.etcd.session.TicketKeys;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.ArrayList;
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
        Map<Session, List<TicketKey>> bySession = new LinkedHashMap<>();
        for (Ticket ticket : tickets) {
            keyOf(ticket)
                    .ifPresent(key -> bySession
                            .computeIfAbsent(key.session(), session -> new ArrayList<>())
                            .add(key));
        }
        bySession.forEach((session, batch) -> renew(session, batch, deadline));
    }

    private void renew(Session session, List<TicketKey> batch, Deadline deadline) {
        ProvenKeepAlive.Finding finding;
        try {
            finding = sessions.extend(session, keysToRead(batch), deadline);
        } catch (RpcFailure failure) {
            batch.forEach(key -> reportFailing(key, failure));
            return;
        }
        for (TicketKey key : batch) {
            try {
                report(key, session, finding, deadline);
            } catch (RpcFailure failure) {
                reportFailing(key, failure);
            }
        }
    }

    /** @throws RpcFailure if the ticket is as it was */
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        Optional<TicketKey> known = keyOf(ticket);
        if (known.isEmpty()) {
            return;
        }
        TicketKey key = known.get();
        Session session = key.session();
        ProvenKeepAlive.Finding finding = sessions.extend(session, keysToRead(List.of(key)), deadline);
        report(key, session, finding, deadline);
        if (ticket.state() == Ticket.State.HELD && ttl.compareTo(session.ttl()) > 0) {
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

    private static List<ByteString> keysToRead(List<TicketKey> batch) {
        List<ByteString> keys = new ArrayList<>();
        for (TicketKey key : batch) {
            keys.add(key.bytes());
            TicketKey.Waiting waiting = key.waiting();
            if (waiting != null) {
                keys.add(waiting.nearest());
            }
        }
        return keys;
    }

    /** @throws RpcFailure if what was found says neither that the ticket is kept nor that it is gone */
    private void report(TicketKey key, Session session, ProvenKeepAlive.Finding finding, Deadline deadline) {
        Optional<KeyValue> found = finding.key(key.bytes());
        if (found.isEmpty()) {
            ticketKeys.lose(key, LossReason.GONE, "its key in etcd is gone: its lease ended, or somebody deleted it");
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
        if (finding.verdict() != ProvenKeepAlive.Verdict.EXTENDED) {
            throw RpcFailure.unavailable("etcd is changing its leader, so the renewal proves nothing");
        }
        key.changedAt(found.get().getModRevision());
        if (movesTo != null) {
            moves.preclude(key, deadline);
        }
        TicketKey.Waiting waiting = key.waiting();
        if (waiting != null && finding.key(waiting.nearest()).isEmpty()) {
            waiting.look();
        }
        key.reportKept(finding.baseNanos());
    }

    private static void reportFailing(TicketKey key, RpcFailure failure) {
        key.ticket().failing(failure.about(key.ticket().name()));
    }
}
