package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.holdfast.LossReason;
import io.holdfast.etcd.internal.wire.Compare;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LossListener;
import io.holdfast.spi.Request;
import io.holdfast.spi.TicketListener;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One request's key in a lock's line, from before it is written until it is gone. Thread-safe.
 *
 * <p>Its listeners are called under its monitor, so that once it has ended nobody hears of it any more.
 */
final class Place {

    /** What is known of the key. */
    enum State {
        /** Written, perhaps: no answer yet. */
        ASKING,
        /** In line. */
        WAITING,
        /** First in line, or admitted beside others. */
        HELD,
        /** Released, but its key is to stay a while; nobody hears of it. */
        LINGERING,
        /** Nobody wants it any more; its key is to go, and nobody hears of it. */
        OVER
    }

    private final Request request;
    private final ByteString key;
    private final @Nullable TicketListener listener;
    private final LossListener losses;

    private State state = State.ASKING; // guarded by this
    private volatile Session session;
    private volatile @Nullable Session next; // an own lease the key may have moved to, with the answer still out
    private volatile TicketNote note;
    private volatile long revision;
    private volatile long changeRevision;
    private volatile long baseNanos;
    private volatile long keptUntilNanos;
    private volatile @Nullable Wait wait;

    Place(
            Request request,
            ByteString key,
            Session session,
            TicketNote note,
            @Nullable TicketListener listener,
            LossListener losses) {
        this.request = request;
        this.key = key;
        this.session = session;
        this.note = note;
        this.listener = listener;
        this.losses = losses;
        this.baseNanos = session.baseNanos();
        this.keptUntilNanos = baseNanos + session.ttl().toNanos();
    }

    Request request() {
        return request;
    }

    ByteString key() {
        return key;
    }

    Session session() {
        return session;
    }

    void moveTo(Session newSession) {
        session = newSession;
    }

    @Nullable
    Session next() {
        return next;
    }

    void mayMoveTo(@Nullable Session newSession) {
        next = newSession;
    }

    TicketNote note() {
        return note;
    }

    void note(TicketNote newNote) {
        note = newNote;
    }

    /** The create revision of its key, which is the token; zero while unknown. */
    long revision() {
        return revision;
    }

    /** True of its key while it is there: its create revision or, while that is unknown, the lease it was sent with. */
    Compare isThere() {
        return revision > 0 ? Txns.createdAt(key, revision) : isBoundTo(session);
    }

    /** True of its key while it is there and has not moved away from that session's lease. */
    Compare isBoundTo(Session holder) {
        return Txns.boundTo(key, holder.lease());
    }

    /** Of its key's last change, as last read. */
    long changeRevision() {
        return changeRevision;
    }

    void changedAt(long newRevision) {
        changeRevision = newRevision;
    }

    long baseNanos() {
        return baseNanos;
    }

    /** Until when its key is to stay without anybody saying so again. */
    long keptUntilNanos() {
        return keptUntilNanos;
    }

    /** The engine asked for it, and the store extended it. Never shortens. False if that came too late: it has ended. */
    synchronized boolean keep(long newBaseNanos, Duration ttl) {
        if (hasEnded()) {
            return false;
        }
        if (newBaseNanos - baseNanos > 0) {
            baseNanos = newBaseNanos;
        }
        long until = newBaseNanos + ttl.toNanos();
        if (until - keptUntilNanos > 0) {
            keptUntilNanos = until;
        }
        return true;
    }

    /** Ends if its time is up. Whether it is. */
    synchronized boolean lapse(long nowNanos) {
        boolean lapsed = nowNanos - keptUntilNanos >= 0;
        if (lapsed) {
            lost(LossReason.EXPIRED, "it was not renewed in time");
        }
        return lapsed;
    }

    synchronized State state() {
        return state;
    }

    /** Whether its key keeps others out. */
    synchronized boolean isTaken() {
        return state == State.HELD || state == State.LINGERING;
    }

    /** Nobody holds it or waits for it any more. */
    synchronized boolean hasEnded() {
        return state == State.LINGERING || state == State.OVER;
    }

    /** Its key is written; it waits. False if it has ended meanwhile. */
    synchronized boolean waits(long createRevision) {
        revision = createRevision;
        return advance(State.ASKING, State.WAITING);
    }

    /** It was admitted at once. False if it has ended meanwhile. */
    synchronized boolean holds(long createRevision) {
        revision = createRevision;
        return advance(State.ASKING, State.HELD);
    }

    void waiting(Wait newWait) {
        wait = newWait;
    }

    @Nullable
    Wait waiting() {
        return wait;
    }

    Grant grant() {
        return new Grant(request, revision, session.ttl(), baseNanos, this);
    }

    /** It is its turn. */
    synchronized void admitted() {
        if (state != State.WAITING || listener == null) {
            return;
        }
        if (session.isOver()) {
            lost(LossReason.GONE, "its session has ended");
            return;
        }
        state = State.HELD;
        listener.granted(grant());
    }

    /** Its key is gone, or will be without our doing. */
    synchronized void lost(LossReason reason, String why) {
        State before = state;
        state = State.OVER;
        if (before == State.WAITING && listener != null) {
            listener.lost(why);
        } else if (before == State.HELD) {
            losses.lost(request.owner(), reason, why);
        }
    }

    /** Nobody wants it any more, but its key stays until then. After this nobody hears of it. */
    synchronized void lingerUntil(long endNanos) {
        if (state == State.HELD) {
            state = State.LINGERING;
            keptUntilNanos = endNanos;
        }
    }

    /** Nobody wants it any more. After this nobody hears of it. */
    void end() {
        Wait current;
        synchronized (this) {
            state = State.OVER;
            current = wait;
        }
        if (current != null) {
            current.close();
        }
    }

    /** Not if its session is over: whoever ends that tells those who have advanced, and nobody else. */
    private boolean advance(State from, State to) {
        if (state != from) {
            return false;
        }
        state = session.isOver() ? State.OVER : to;
        return state == to;
    }
}
