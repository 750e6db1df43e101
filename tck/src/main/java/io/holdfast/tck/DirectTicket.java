package io.holdfast.tck;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LockView.Origin;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import java.time.Duration;

/** A ticket of the kit's own, whose deadline never passes here, so that only the store ends it; and what it was told last. */
final class DirectTicket implements Ticket.Listener {

    /** What the store said last. */
    enum Told {
        NOTHING,
        GRANTED,
        KEPT,
        FAILING,
        GONE
    }

    private final Ticket ticket;
    private volatile Told told = Told.NOTHING;

    DirectTicket(String name, OwnerId owner, Demand demand, Duration ttl, Origin origin) {
        Validity validity = new Validity(new StandingStill(), Duration.ZERO);
        this.ticket = new Ticket(name, owner, demand, ttl, origin, validity, this);
    }

    Ticket ticket() {
        return ticket;
    }

    String name() {
        return ticket.name();
    }

    long token() {
        return ticket.storeToken();
    }

    boolean isHeld() {
        return ticket.state() == Ticket.State.HELD;
    }

    Told told() {
        return told;
    }

    void forgetWhatItWasTold() {
        told = Told.NOTHING;
    }

    @Override
    public void granted() {
        told = Told.GRANTED;
    }

    @Override
    public void kept() {
        told = Told.KEPT;
    }

    @Override
    public void failing(LockException cause) {
        told = Told.FAILING;
    }

    @Override
    public void ended(Ticket.Ending why) {
        told = Told.GONE;
    }

    private static final class StandingStill implements TimeSource {

        private final long now = System.nanoTime();

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            throw new UnsupportedOperationException("nobody waits by this clock");
        }
    }
}
