package io.holdfast.spi;

import java.time.Duration;
import java.util.Optional;

/**
 * The lock is taken, and the request left no trace.
 *
 * @param holderTimeLeft when the holder expires unless renewed, if the store can tell: asking later than that pays
 * @param askAgain how soon to ask again, where the store knows that better than its usual pace; a poll of the user's goes by
 *     the user's pace all the same
 * @param reason for people
 */
public record Refusal(Optional<Duration> holderTimeLeft, Optional<Duration> askAgain, String reason) {

    public Refusal(Optional<Duration> holderTimeLeft, String reason) {
        this(holderTimeLeft, Optional.empty(), reason);
    }

    public Refusal(String reason) {
        this(Optional.empty(), reason);
    }
}
