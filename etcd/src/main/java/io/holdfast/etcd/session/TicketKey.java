package io.holdfast.etcd.session;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.LockView.Standing;
import io.holdfast.LossReason;
import io.holdfast.etcd.internal.wire.Compare;
import io.holdfast.etcd.internal.wire.RequestOp;
import io.holdfast.etcd.layout.TicketValue;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.spi.Ticket;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The key of one ticket in its lock's queue, from before it is written until it is gone. Thread-safe. */
public final class TicketKey {

    private final Ticket ticket;
    private final ByteString key;
    private final Instant since = Instant.now();

    private volatile Session session;
    private volatile @Nullable Session movesTo;
    private volatile long revision;
    private volatile long changeRevision;
    private volatile @Nullable Long lingersUntilNanos;
    private volatile @Nullable Waiting waiting;
    private volatile boolean reporting; // written under this

    public TicketKey(Ticket ticket, ByteString key, Session session) {
        this.ticket = ticket;
        this.key = key;
        this.session = session;
    }

    public Ticket ticket() {
        return ticket;
    }

    public ByteString bytes() {
        return key;
    }

    public Session session() {
        return session;
    }

    // Its moves to another session.

    /** A request to move it is about to be sent. */
    void beginMove(Session to) {
        movesTo = to;
    }

    /** Where it may have moved, if the answer to that is still out; null if there is no such move. */
    @Nullable
    public Session movesTo() {
        return movesTo;
    }

    void finishMove(Session to) {
        session = to;
        movesTo = null;
    }

    /** There is no such move any more. Returns where it would have gone. */
    @Nullable
    Session cancelMove() {
        Session other = movesTo;
        movesTo = null;
        return other;
    }

    /** Writes the key, with what its ticket asks for now, as one of that session. */
    public RequestOp put(Session to) {
        return Txns.put(key, value().write(), to.lease());
    }

    /** Changes what the key asks for; it stays with its session and keeps its create revision. */
    public RequestOp rewriteAs(Demand demand) {
        return Txns.rewrite(key, value().withDemand(demand).write());
    }

    private TicketValue value() {
        return TicketValue.of(ticket, since, isLingering() ? Standing.LINGERING : Standing.HELD);
    }

    /** Its create revision, which is the token; zero while unknown. */
    public long revision() {
        return revision;
    }

    /** True while it is there: its create revision or, while that is unknown, the lease it was sent with. */
    public Compare isThere() {
        return revision > 0 ? Txns.createdAt(key, revision) : isBoundTo(session);
    }

    /** True while it is there and has not moved away from that session. */
    Compare isBoundTo(Session holder) {
        return Txns.boundTo(key, holder.lease());
    }

    /** Of its last change, as last read. */
    long changeRevision() {
        return changeRevision;
    }

    public void changedAt(long newRevision) {
        changeRevision = newRevision;
    }

    // What its ticket is told.

    /**
     * The key is written: from now on the ticket hears what becomes of its session. False if that has ended before, and the key
     * with it: then the ticket has heard nothing, and may ask again.
     */
    public synchronized boolean startReporting(long createRevision) {
        revision = createRevision;
        reporting = !session.isOver();
        return reporting;
    }

    public void reportGrant() {
        Session holder = session;
        if (holder.isOver()) {
            ticket.gone(LossReason.GONE, "its session has ended");
        } else {
            ticket.granted(revision, holder.ttl(), holder.baseNanos());
        }
    }

    /** Its session was extended by a request sent then. */
    public void reportKept(long baseNanos) {
        if (ticket.state() == Ticket.State.WAITING) {
            ticket.waiting(session.ttl(), baseNanos);
        } else {
            ticket.extended(session.ttl(), baseNanos);
        }
    }

    void reportEndOfSession(LossReason reason, String why) {
        stopWaiting();
        boolean told;
        synchronized (this) {
            told = reporting;
        }
        if (told) {
            ticket.gone(reason, why);
        }
    }

    // Its wait.

    /** How a waiting ticket learns that it is admitted. */
    public interface Waiting extends AutoCloseable {

        /** Whose going is waited for. */
        ByteString nearest();

        /** Asks etcd who is ahead. */
        void look();

        @Override
        void close();
    }

    public void waitBy(Waiting newWaiting) {
        waiting = newWaiting;
    }

    /** How it waits; null if it does not. */
    @Nullable
    public Waiting waiting() {
        return ticket.state() == Ticket.State.WAITING ? waiting : null;
    }

    void stopWaiting() {
        Waiting current = waiting;
        if (current != null) {
            current.close();
        }
    }

    // How long it stays.

    /** Its ticket was released, but the key is to stay until then. A release that is repeated does not prolong that. */
    public void lingerUntil(long endNanos) {
        if (lingersUntilNanos == null) {
            lingersUntilNanos = endNanos;
        }
    }

    boolean isLingering() {
        return lingersUntilNanos != null;
    }

    /** Whether it keeps others out on purpose. */
    boolean isTaken() {
        return isLingering() || ticket.state() == Ticket.State.HELD;
    }

    /** Until when it is to stay without anybody saying so again: later than its ticket ends, whose owner may let it linger. */
    long keptUntilNanos() {
        Long lingering = lingersUntilNanos;
        return lingering != null
                ? lingering
                : ticket.baseNanos() + ticket.givenTtl().toNanos();
    }

    /** Ends the ticket if the key's time is up. Whether it is; never while the request that writes the key is under way. */
    boolean endIfOver(long nowNanos) {
        return reporting && nowNanos - keptUntilNanos() >= 0 && ticket.endIfExpired();
    }
}
