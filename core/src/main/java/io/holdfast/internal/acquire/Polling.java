package io.holdfast.internal.acquire;

import io.holdfast.Waiting;
import io.holdfast.spi.Deadline;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** When to ask again: growing pauses with jitter, cut short where the holder is known to expire sooner. One wait's. */
final class Polling {

    /** A store may want to be asked often for a moment, as by the first in its queue; oftener than this is spinning. */
    private static final long SHORTEST_NANOS = Duration.ofNanos(200_000).toNanos();

    private final Waiting.Poll poll;
    private double pauseNanos;
    private int asked;

    Polling(Waiting.Poll poll) {
        this.poll = poll;
        this.pauseNanos = Deadline.nanosOf(poll.delay());
    }

    /** Counts a refusal. Whether asking again is still allowed. */
    boolean countRefusal() {
        return ++asked < poll.tries();
    }

    /** @param longest not beyond that, whatever the pace */
    long nextPauseNanos(long longest) {
        double share = poll.jitter() * (2 * ThreadLocalRandom.current().nextDouble() - 1);
        long pause = (long) (pauseNanos * (1 + share));
        pauseNanos = Math.min(pauseNanos * poll.backoff(), Deadline.nanosOf(poll.maxDelay()));
        return Math.max(SHORTEST_NANOS, Math.min(pause, longest));
    }
}
