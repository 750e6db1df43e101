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
     * @param askAgain how soon to ask again, where the store knows that better than its usual pace; a poll of the user's goes by
     *     the user's pace all the same
     * @param reason for people
     */
    record Refused(Optional<Duration> holderTimeLeft, Optional<Duration> askAgain, String reason) implements Answer {
        public Refused(Optional<Duration> holderTimeLeft, String reason) {
            this(holderTimeLeft, Optional.empty(), reason);
        }

        public Refused(String reason) {
            this(Optional.empty(), reason);
        }
    }

    /** The request waits in line; its {@link TicketListener} hears how it ends. */
    record Queued(Ticket ticket) implements Answer {}
}
