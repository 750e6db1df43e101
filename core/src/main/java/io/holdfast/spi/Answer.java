package io.holdfast.spi;

import java.time.Duration;
import java.util.Optional;

/** What a store says to a request. */
public sealed interface Answer {

    /** The lock is held. */
    record Granted(Grant grant) implements Answer {}

    /**
     * The lock is taken, and the request left no trace.
     *
     * @param holderTimeLeft when the holder expires unless renewed, if the store can tell: asking later than that pays
     * @param reason for people
     */
    record Refused(Optional<Duration> holderTimeLeft, String reason) implements Answer {
        public Refused(String reason) {
            this(Optional.empty(), reason);
        }
    }

    /** The request waits in line; its {@link TicketListener} hears how it ends. */
    record Queued(Ticket ticket) implements Answer {}
}
