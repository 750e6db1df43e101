package io.holdfast.jdbc;

import io.holdfast.spi.Refusal;
import io.holdfast.spi.Ticket;
import java.util.Optional;

/** What the database said to a request for a lock. */
sealed interface Answer {

    /** Tells the ticket, if it is good news. */
    Optional<Refusal> reportTo(Ticket ticket);

    /**
     * The lock is taken.
     *
     * @param token minted by the row
     * @param baseNanos just before the statement was sent
     */
    record Taken(long token, long baseNanos) implements Answer {
        @Override
        public Optional<Refusal> reportTo(Ticket ticket) {
            ticket.granted(token, ticket.ttl(), baseNanos);
            return Optional.empty();
        }
    }

    /** Somebody else has it. */
    record Refused(Refusal refusal) implements Answer {
        @Override
        public Optional<Refusal> reportTo(Ticket ticket) {
            return Optional.of(refusal);
        }
    }
}
