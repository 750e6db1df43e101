package io.holdfast.redis.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A subscription")
class SubscriptionStateTest {

    private static final Duration LONG = Duration.ofHours(1);

    private final AtomicLong nanos = new AtomicLong();
    private final TimeSource time = new TimeSource() {
        @Override
        public long nanoTime() {
            return nanos.get();
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            throw new UnsupportedOperationException("nobody parks here");
        }
    };
    private final SubscriptionState subscription = new SubscriptionState(time, LONG);

    private void pass(Duration duration) {
        nanos.addAndGet(duration.toNanos());
    }

    private Thread waiting(Runnable afterwards) {
        Thread thread = new Thread(() -> {
            subscription.await(Deadline.never(time));
            afterwards.run();
        });
        thread.setDaemon(true);
        thread.start();
        Awaitility.await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        return thread;
    }

    private static void assertEnds(Thread thread) throws InterruptedException {
        thread.join(20_000);
        assertThat(thread.isAlive()).isFalse();
    }

    @Test
    void isWaitedForUntilItIsConfirmed() throws Exception {
        assertThat(subscription.isExpected()).isTrue();
        Thread waiting = waiting(() -> {});

        subscription.confirm();

        assertEnds(waiting);
        assertThat(subscription.isExpected()).isFalse();
    }

    @Test
    void isNotWaitedForAfterItsEnd() throws Exception {
        Thread waiting = waiting(() -> {});

        subscription.end();

        assertEnds(waiting);
        subscription.confirm();
        subscription.lose();
        assertThat(subscription.isEnded()).isTrue();
        assertThat(subscription.isExpected()).isFalse();
        subscription.await(Deadline.never(time));
    }

    @Test
    void anInterruptNeitherEndsTheWaitNorIsLost() throws Exception {
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread waiting = waiting(() -> flag.complete(Thread.currentThread().isInterrupted()));

        waiting.interrupt();
        Awaitility.await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING && !waiting.isInterrupted());
        assertThat(flag).isNotDone();
        subscription.confirm();

        assertThat(flag.get(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void thatDoesNotComeIsNotExpectedForEver() {
        pass(LONG);

        assertThat(subscription.isExpected()).isFalse();
        subscription.await(Deadline.never(time));
    }

    @Test
    void isExpectedAnewWhenItBreaks() {
        subscription.confirm();
        pass(LONG.multipliedBy(2));

        subscription.lose();

        assertThat(subscription.isExpected()).isTrue();
        pass(LONG);
        subscription.lose();
        assertThat(subscription.isExpected())
                .as("losing what is not there is no news")
                .isFalse();
    }

    @Test
    void countsHowOftenItWasConfirmed() {
        assertThat(subscription.confirmations()).isZero();
        subscription.confirm();
        subscription.lose();
        assertThat(subscription.confirmations()).isEqualTo(1);
        subscription.confirm();
        assertThat(subscription.confirmations()).isEqualTo(2);
    }
}
