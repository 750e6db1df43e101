package io.holdfast.etcd.session;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.LockView.Standing;
import io.holdfast.LossReason;
import io.holdfast.etcd.internal.wire.Compare;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.RequestOp;
import io.holdfast.etcd.layout.TicketValue;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Tokens;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The key of one ticket in its lock's queue, from before it is written until it is gone. Thread-safe. */
public final class TicketKey {

    private final Ticket ticket;
    private final Instant since = Instant.now();
    private final ByteString firstValue;
    private final ReentrantLock moving = new ReentrantLock();
    private final AtomicReference<@Nullable Withdrawal> withdrawal = new AtomicReference<>();

    private volatile Session session;
    private volatile List<ByteString> slots = List.of();
    private volatile @Nullable Session movesTo;
    private volatile long revision;
    private volatile long changeRevision;
    private volatile @Nullable Long lingersUntilNanos;
    private volatile @Nullable Waiting waiting;
    private volatile @Nullable Long abandonedNanos;
    private volatile boolean reporting; // written under this

    public TicketKey(Ticket ticket, Session session) {
        this.ticket = ticket;
        this.session = session;
        this.firstValue = value().write();
    }

    public Ticket ticket() {
        return ticket;
    }

    public Session session() {
        return session;
    }

    // Where it is.

    /** A request is about to be sent that writes it in one of these slots. */
    public void aimAt(List<ByteString> those) {
        slots = List.copyOf(those);
    }

    /** Where it may be: one slot once its create revision is known. */
    public List<ByteString> slots() {
        return slots;
    }

    /** Where it is. */
    public ByteString bytes() {
        return slots.get(0);
    }

    /** Its create revision, which is the token; zero while unknown. */
    public long revision() {
        return revision;
    }

    /** What is written first. It names the acquisition, so no other ticket ever says the same. */
    public ByteString firstValue() {
        return firstValue;
    }

    /** True while it is in that slot, and not of whoever used the slot before or uses it after. */
    Compare isIn(ByteString slot) {
        return revision > 0 ? Txns.createdAt(slot, revision) : Txns.says(slot, firstValue);
    }

    /** True of no other key, and of this one while it is there. */
    public Compare isThere() {
        return isIn(bytes());
    }

    /** Whether that is this key. */
    boolean isSame(KeyValue found) {
        return found.getCreateRevision() == revision;
    }

    /** Of its last change, as last read. */
    long changeRevision() {
        return changeRevision;
    }

    void changedAt(long newRevision) {
        changeRevision = newRevision;
    }

    // Its moves to another session.

    /** Held by whoever moves it: one move at a time. */
    ReentrantLock moving() {
        return moving;
    }

    /** A request to move it is about to be sent. */
    synchronized void beginMove(Session to) {
        movesTo = to;
    }

    /** Where it may have moved, if the answer to that is still out; null if there is no such move. */
    @Nullable
    Session movesTo() {
        return movesTo;
    }

    /** It is there. False if there is no such move any more: it may be another by now. */
    synchronized boolean finishMove(Session to) {
        if (movesTo != to) {
            return false;
        }
        session = to;
        movesTo = null;
        return true;
    }

    /** There is no such move any more. False if there was none: it may be another by now. */
    synchronized boolean cancelMove(Session to) {
        if (movesTo != to) {
            return false;
        }
        movesTo = null;
        return true;
    }

    /** Writes the key, with what its ticket asks for now, as one of that session. */
    public RequestOp put(Session to) {
        return Txns.put(bytes(), value().write(), to.lease());
    }

    /** Changes what the key asks for; it stays with its session and keeps its create revision. */
    public RequestOp rewriteAs(Demand demand) {
        return Txns.rewrite(bytes(), value().withDemand(demand).write());
    }

    private TicketValue value() {
        return TicketValue.of(ticket, since, isLingering() ? Standing.LINGERING : Standing.HELD);
    }

    // What its ticket is told.

    /**
     * The key is written: from now on the ticket hears what becomes of its session. False if that has ended before, and the key
     * with it: then the ticket has heard nothing, and may ask again.
     */
    public synchronized boolean startReporting(ByteString slot, long createRevision) {
        revision = createRevision;
        slots = List.of(slot);
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

    public void reportGone() {
        ticket.gone(LossReason.GONE, "its key in etcd is gone: its lease ended, or somebody deleted it");
    }

    /** The session it was found in was extended by a request sent then. It may have moved on since. */
    void reportKept(Session in, long baseNanos) {
        if (ticket.state() == Ticket.State.WAITING) {
            ticket.waiting(in.ttl(), baseNanos);
        } else {
            ticket.extended(in.ttl(), baseNanos);
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
    public interface Waiting {

        /** The ticket whose going is waited for, as far as is known. */
        Optional<KeyValue> reliesOn();

        /** A renewal of one that waits has read what was relied on before it: empty if it was not there. */
        void check(TicketKey waiter, Optional<KeyValue> reliedOn, Optional<KeyValue> found);

        /** Is not waited for any more. */
        void leave(TicketKey waiter);
    }

    public void waitBy(Waiting newWaiting) {
        waiting = newWaiting;
    }

    /** How it waits, if it does. */
    public Optional<Waiting> waiting() {
        return Optional.ofNullable(waiting).filter(current -> ticket.state() == Ticket.State.WAITING);
    }

    void stopWaiting() {
        Optional.ofNullable(waiting).ifPresent(current -> current.leave(this));
    }

    // Its end.

    /** Whether nobody wants it any more, and nobody was asked yet to delete it; it may never have held the lock. */
    boolean isGivenUp() {
        boolean waitedInVain =
                revision > 0 && ticket.state() == Ticket.State.ENDED && ticket.storeToken() == Tokens.NONE;
        return (waitedInVain || isAbandoned()) && withdrawal.get() == null && !isLingering();
    }

    /** What came of a request to delete it. */
    void noteWithdrawal(Withdrawal answer) {
        withdrawal.set(answer);
    }

    /** What came of a request to delete it that nobody has asked about yet. */
    public Optional<Withdrawal> takeWithdrawal() {
        return Optional.ofNullable(withdrawal.getAndSet(null));
    }

    // How long it stays.

    /** Nobody wants it any more. */
    synchronized void markAbandoned(long nowNanos) {
        if (abandonedNanos == null) {
            abandonedNanos = nowNanos;
        }
    }

    boolean isAbandoned() {
        return abandonedNanos != null;
    }

    /** Whether it was abandoned longer ago than that. */
    boolean isAbandonedFor(Duration time, long nowNanos) {
        Long since = abandonedNanos;
        return since != null && nowNanos - since > time.toNanos();
    }

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
