package io.holdfast.redis.channel;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.support.Uninterruptibly;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/** Whether a subscription is there: from its confirmation until its connection breaks. Thread-safe. */
final class SubscriptionState {

    private enum Stage {
        EXPECTED,
        CONFIRMED,
        ENDED
    }

    /**
     * What holds for a while.
     *
     * @param confirmations how many there have been
     * @param left opened when the stage is left
     */
    private record State(Stage stage, long confirmations, long sinceNanos, CountDownLatch left) {}

    private final TimeSource time;
    private final Duration worthWaiting;
    private final AtomicReference<State> state;

    /**
     * One is expected from the beginning on.
     *
     * @param worthWaiting how long after a break, or the beginning, a subscription is worth waiting for. All share it: if it does
     *     not come at all, each waits until then and those after it not at all.
     */
    SubscriptionState(TimeSource time, Duration worthWaiting) {
        this.time = time;
        this.worthWaiting = worthWaiting;
        this.state = new AtomicReference<>(state(Stage.EXPECTED, 0));
    }

    void confirm() {
        leave(old -> state(Stage.CONFIRMED, old.confirmations + 1));
    }

    void lose() {
        leave(old -> old.stage == Stage.CONFIRMED ? state(Stage.EXPECTED, old.confirmations) : old);
    }

    /** For good. */
    void end() {
        leave(old -> state(Stage.ENDED, old.confirmations));
    }

    boolean isEnded() {
        return state.get().stage == Stage.ENDED;
    }

    /** Not there now, but perhaps in a moment. */
    boolean isExpected() {
        State now = state.get();
        return now.stage == Stage.EXPECTED && !expectedUntil(now).hasPassed();
    }

    /** Waits as long as it is expected, and no longer than that. */
    void await(Deadline deadline) {
        State now = state.get();
        if (now.stage == Stage.EXPECTED) {
            Deadline until = deadline.within(expectedUntil(now).remaining());
            Uninterruptibly.await(until, now.left::await);
        }
    }

    /** How often it has been confirmed. */
    long confirmations() {
        return state.get().confirmations;
    }

    private Deadline expectedUntil(State state) {
        return Deadline.after(time, state.sinceNanos, worthWaiting);
    }

    private State state(Stage stage, long confirmations) {
        return new State(stage, confirmations, time.nanoTime(), new CountDownLatch(1));
    }

    private void leave(UnaryOperator<State> next) {
        State old = state.getAndUpdate(now -> now.stage == Stage.ENDED ? now : next.apply(now));
        if (state.get() != old) {
            old.left.countDown();
        }
    }
}
