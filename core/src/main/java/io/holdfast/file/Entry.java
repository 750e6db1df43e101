package io.holdfast.file;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import java.time.Duration;

/**
 * One row of a lock's table: a waiting ticket, a holder, or what a holder left lingering. Immutable.
 *
 * @param life names the proof that the process lives, see {@link ProofOfLife}
 * @param ttlNanos for how long the last extension was
 * @param expiresNanos when it ends without another one; less {@link #ttlNanos} it is the base of the claim
 * @param token zero while it waits
 * @param sinceMillis wall clock, for people
 */
record Entry(
        State state,
        OwnerId owner,
        Demand demand,
        String life,
        long ttlNanos,
        long expiresNanos,
        long token,
        long sinceMillis,
        Origin origin) {

    /** The numbers in the file are the ordinals: append only. */
    enum State {
        WAITING,
        HELD,
        /** Released, yet to stay taken for a while, whether or not the process lives. */
        LINGERING
    }

    static Entry waiting(Ticket ticket, String life, long nowNanos) {
        long ttl = ticket.ttl().toNanos();
        return new Entry(
                State.WAITING,
                ticket.owner(),
                ticket.demand(),
                life,
                ttl,
                nowNanos + ttl,
                0,
                System.currentTimeMillis(),
                ticket.origin());
    }

    Entry granted(long newToken) {
        return new Entry(
                State.HELD, owner, demand, life, ttlNanos, expiresNanos, newToken, System.currentTimeMillis(), origin);
    }

    Entry lingering(long nowNanos, long forNanos) {
        return new Entry(
                State.LINGERING, owner, demand, life, forNanos, nowNanos + forNanos, token, sinceMillis, origin);
    }

    Entry shared() {
        return new Entry(state, owner, Demand.shared(), life, ttlNanos, expiresNanos, token, sinceMillis, origin);
    }

    /** Lasts for {@code forNanos} from now on, or as it did if that is longer. */
    Entry extended(long nowNanos, long forNanos) {
        return nowNanos + forNanos - expiresNanos <= 0 ? this : startedAt(nowNanos, forNanos);
    }

    Entry startedAt(long nowNanos, long forNanos) {
        return new Entry(state, owner, demand, life, forNanos, nowNanos + forNanos, token, sinceMillis, origin);
    }

    /** Tells its ticket how it stands. Its base is when it was last extended. */
    void report(Ticket ticket) {
        Duration ttl = Duration.ofNanos(ttlNanos);
        long baseNanos = expiresNanos - ttlNanos;
        if (state == State.HELD) {
            ticket.granted(token, ttl, baseNanos);
        } else {
            ticket.waiting(ttl, baseNanos);
        }
    }

    boolean isExpired(long nowNanos) {
        return expiresNanos - nowNanos <= 0;
    }

    boolean isOf(OwnerId anOwner) {
        return owner.number() == anOwner.number() && owner.client().equals(anOwner.client());
    }

    boolean isHeldBy(OwnerId anOwner) {
        return state == State.HELD && isOf(anOwner);
    }

    boolean needsLife() {
        return state != State.LINGERING;
    }
}
