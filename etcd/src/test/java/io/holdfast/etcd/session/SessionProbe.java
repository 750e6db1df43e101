package io.holdfast.etcd.session;

import io.holdfast.spi.Ticket;

/** What only the session's own room can see. */
public final class SessionProbe {

    private final Session session;

    private SessionProbe(Session session) {
        this.session = session;
    }

    /** Of the session a ticket's key is in now; it does not follow the key to another. */
    public static SessionProbe of(Ticket ticket) {
        return new SessionProbe(ticket.handle(TicketKey.class).orElseThrow().session());
    }

    /** Of a ticket, waiting or held. */
    public static long createRevision(Ticket ticket) {
        return ticket.handle(TicketKey.class).orElseThrow().revision();
    }

    public String leaseHex() {
        return Long.toHexString(session.lease());
    }

    public long baseNanos() {
        return session.baseNanos();
    }

    public long sweptNanos() {
        return session.sweptNanos();
    }

    public int unwantedKeys() {
        return (int) session.keys().stream().filter(TicketKey::isAbandoned).count();
    }

    public boolean hasItsOwnKey() {
        return session.ownKey() == Session.OwnKey.WRITTEN;
    }

    public boolean isOver() {
        return session.isOver();
    }
}
