package io.holdfast;

import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Objects;

/** How an acquisition waits for a lock that is taken. Immutable. */
public sealed interface Waiting {

    /** In the store's queue, woken by the store. */
    static Queue queue() {
        return new Queue();
    }

    /** By asking again and again: 50 ms apart at first, growing by half up to 500 ms, ± 20 %, as often as time allows. */
    static Poll poll() {
        return new Poll(Duration.ofMillis(50), Duration.ofMillis(500), 1.5, 0.2, Integer.MAX_VALUE);
    }

    record Queue() implements Waiting {}

    /**
     * Asking again after a delay.
     *
     * @param delay the first pause
     * @param maxDelay what the pauses grow to
     * @param backoff the factor from one pause to the next, at least 1
     * @param jitter the share by which a pause varies at random, 0 to 1
     * @param tries how often the store is asked before an acquisition with a time limit gives up
     */
    record Poll(Duration delay, Duration maxDelay, double backoff, double jitter, int tries) implements Waiting {
        public Poll {
            Objects.requireNonNull(delay, "delay");
            Objects.requireNonNull(maxDelay, "maxDelay");
            if (delay.isNegative() || delay.isZero()) {
                throw new IllegalArgumentException("the poll delay must be positive, not " + DurationText.of(delay));
            }
            if (maxDelay.compareTo(delay) < 0) {
                throw new IllegalArgumentException("the longest poll delay " + DurationText.of(maxDelay)
                        + " is below the first " + DurationText.of(delay));
            }
            if (!(backoff >= 1)) {
                throw new IllegalArgumentException("the backoff factor must be at least 1, not " + backoff);
            }
            if (!(jitter >= 0 && jitter <= 1)) {
                throw new IllegalArgumentException("the jitter must be between 0 and 1, not " + jitter);
            }
            if (tries < 1) {
                throw new IllegalArgumentException("the number of tries must be at least 1, not " + tries);
            }
        }

        /** The same with a constant pause. */
        public Poll every(Duration constantDelay) {
            return new Poll(constantDelay, constantDelay, 1, jitter, tries);
        }

        public Poll withBackoff(Duration first, Duration longest, double factor) {
            return new Poll(first, longest, factor, jitter, tries);
        }

        public Poll withJitter(double share) {
            return new Poll(delay, maxDelay, backoff, share, tries);
        }

        public Poll withTries(int number) {
            return new Poll(delay, maxDelay, backoff, jitter, number);
        }
    }
}
