package io.holdfast.internal.ticket;

import io.holdfast.LockException;
import java.time.Duration;

/**
 * Who uses a ticket at the moment: the acquisition that waits for it, then the lease, then the next lease it is handed on to.
 * Called from any thread; returns at once.
 */
public interface TicketUser {

    /** None: the ticket was left at the gate. The acquisition that enters next looks whether it is still held. */
    TicketUser NOBODY = () -> {};

    /** The ticket was granted or has ended: its state tells. */
    void changed();

    /** When this user's time is over, however well the ticket is kept; {@link #endIfTooLong} is called then. */
    default long longestNanos(long ticketsEndNanos) {
        return ticketsEndNanos;
    }

    /** Ends this user if its time is over. */
    default void endIfTooLong() {}

    /** The store has kept the ticket. */
    default void kept(Duration validFor) {}

    /** The store could not be asked to keep the ticket. */
    default void failing(Duration validFor, LockException cause) {}

    /** The client is closed. False if this does not give the grant back. */
    default boolean close() {
        return false;
    }
}
