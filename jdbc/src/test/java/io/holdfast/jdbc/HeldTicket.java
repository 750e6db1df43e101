package io.holdfast.jdbc;

import io.holdfast.LockException;
import io.holdfast.LockView.Origin;
import io.holdfast.Demand;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import java.time.Duration;

/** A ticket whose deadline never passes here, so that only the database ends it, and what it was told last. */
final class HeldTicket implements Ticket.Listener {

    /** What the store said of a renewal. */
    enum Told {
        NOTHING,
        KEPT,
        FAILING,
        GONE
    }

    final Ticket ticket;
    private volatile Told told = Told.NOTHING;

    HeldTicket(String name, OwnerId owner, Demand demand, Duration ttl) {
        long now = System.nanoTime();
        TimeSource standingStill = new TimeSource() {
            @Override
            public long nanoTime() {
                return now;
            }

            @Override
            public void parkUntil(Object blocker, long untilNanos) {
                throw new UnsupportedOperationException("nobody parks here");
            }
        };
        Validity validity = new Validity(standingStill, Duration.ZERO);
        this.ticket = new Ticket(name, owner, demand, ttl, new Origin("client", "host", 42, "thread"), validity, this);
    }

    long token() {
        return ticket.storeToken();
    }

    Told told() {
        return told;
    }

    void forgetWhatItWasTold() {
        told = Told.NOTHING;
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
}
