package io.holdfast.tck.tap;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.spi.Ticket;
import java.time.Duration;

/** What a store says about a ticket, on its way through a {@link StoreTap} to the engine. */
public sealed interface Report {

    /** The engine's ticket. */
    Ticket ticket();

    /** Tells the engine's ticket. */
    void deliver();

    /**
     * The lock is held.
     *
     * @param toWaiter whether the store had said before that the ticket waits
     */
    record Granted(Ticket ticket, long storeToken, Duration ttl, long baseNanos, boolean toWaiter) implements Report {
        @Override
        public void deliver() {
            ticket.granted(storeToken, ttl, baseNanos);
        }

        public Granted withToken(long token) {
            return new Granted(ticket, token, ttl, baseNanos, toWaiter);
        }

        public Granted withTtl(Duration otherTtl) {
            return new Granted(ticket, storeToken, otherTtl, baseNanos, toWaiter);
        }

        public Granted withBase(long nanos) {
            return new Granted(ticket, storeToken, ttl, nanos, toWaiter);
        }
    }

    /** It waits in the queue. */
    record Waiting(Ticket ticket, Duration ttl, long baseNanos) implements Report {
        @Override
        public void deliver() {
            ticket.waiting(ttl, baseNanos);
        }
    }

    /** The grant was kept. */
    record Extended(Ticket ticket, Duration ttl, long baseNanos) implements Report {
        @Override
        public void deliver() {
            ticket.extended(ttl, baseNanos);
        }
    }

    /** It goes on as a shared one. */
    record Downgraded(Ticket ticket) implements Report {
        @Override
        public void deliver() {
            ticket.downgraded();
        }
    }

    /** The store could not be asked to keep it. */
    record Failing(Ticket ticket, LockException cause) implements Report {
        @Override
        public void deliver() {
            ticket.failing(cause);
        }
    }

    /** The store no longer has it. */
    record Gone(Ticket ticket, LossReason reason, String detail) implements Report {
        @Override
        public void deliver() {
            ticket.gone(reason, detail);
        }
    }
}
