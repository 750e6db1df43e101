package io.holdfast.redis;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.support.Uninterruptibly;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/** Whether a client hears its channel: from the confirmation of a subscription until its connection breaks. Thread-safe. */
final class Hearing {

    private enum Stage {
        COMING,
        THERE,
        OVER
    }

    /**
     * What holds for a while.
     *
     * @param round how many subscriptions have been confirmed so far
     * @param left opened when the stage is left
     */
    private record State(Stage stage, long round, long sinceNanos, CountDownLatch left) {}

    private final TimeSource time;
    private final Duration patience;
    private final AtomicReference<State> state;

    /**
     * Begins unheard.
     *
     * @param patience how long after a break, or the beginning, a subscription is worth waiting for. All share it: if it does
     *     not come at all, each waits until then and those after it not at all.
     */
    Hearing(TimeSource time, Duration patience) {
        this.time = time;
        this.patience = patience;
        this.state = new AtomicReference<>(state(Stage.COMING, 0));
    }

    void begin() {
        leave(old -> state(Stage.THERE, old.round + 1));
    }

    void lose() {
        leave(old -> old.stage == Stage.THERE ? state(Stage.COMING, old.round) : old);
    }

    /** For good. */
    void end() {
        leave(old -> state(Stage.OVER, old.round));
    }

    boolean isOver() {
        return state.get().stage == Stage.OVER;
    }

    /** Not heard now, but perhaps in a moment. */
    boolean isExpected() {
        State now = state.get();
        return now.stage == Stage.COMING && !expected(now).hasPassed();
    }

    /** Waits as long as it is expected, and no longer than that. */
    void await(Deadline deadline) {
        State now = state.get();
        if (now.stage == Stage.COMING) {
            Deadline until = deadline.within(expected(now).remaining());
            Uninterruptibly.await(until, now.left::await);
        }
    }

    /** Grows whenever it is heard again. */
    long round() {
        return state.get().round;
    }

    private Deadline expected(State coming) {
        return Deadline.after(time, coming.sinceNanos, patience);
    }

    private State state(Stage stage, long round) {
        return new State(stage, round, time.nanoTime(), new CountDownLatch(1));
    }

    private void leave(UnaryOperator<State> next) {
        State old = state.getAndUpdate(now -> now.stage == Stage.OVER ? now : next.apply(now));
        if (state.get() != old) {
            old.left.countDown();
        }
    }
}
