package io.holdfast.redis;

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

@DisplayName("Whether a client hears its channel")
class HearingTest {

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
    private final Hearing hearing = new Hearing(time, LONG);

    private void pass(Duration duration) {
        nanos.addAndGet(duration.toNanos());
    }

    private Thread waiting(Runnable afterwards) {
        Thread thread = new Thread(() -> {
            hearing.await(Deadline.never(time));
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
    void isWaitedForUntilItBegins() throws Exception {
        assertThat(hearing.isExpected()).isTrue();
        Thread waiting = waiting(() -> {});

        hearing.begin();

        assertEnds(waiting);
        assertThat(hearing.isExpected()).isFalse();
    }

    @Test
    void isNotWaitedForAfterItsEnd() throws Exception {
        Thread waiting = waiting(() -> {});

        hearing.end();

        assertEnds(waiting);
        hearing.begin();
        hearing.lose();
        assertThat(hearing.isOver()).isTrue();
        assertThat(hearing.isExpected()).isFalse();
        hearing.await(Deadline.never(time));
    }

    @Test
    void anInterruptNeitherEndsTheWaitNorIsLost() throws Exception {
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread waiting = waiting(() -> flag.complete(Thread.currentThread().isInterrupted()));

        waiting.interrupt();
        Awaitility.await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING && !waiting.isInterrupted());
        assertThat(flag).isNotDone();
        hearing.begin();

        assertThat(flag.get(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void thatDoesNotComeIsNotExpectedForEver() {
        pass(LONG);

        assertThat(hearing.isExpected()).isFalse();
        hearing.await(Deadline.never(time));
    }

    @Test
    void isExpectedAnewWhenItBreaks() {
        hearing.begin();
        pass(LONG.multipliedBy(2));

        hearing.lose();

        assertThat(hearing.isExpected()).isTrue();
        pass(LONG);
        hearing.lose();
        assertThat(hearing.isExpected())
                .as("losing what is not there is no news")
                .isFalse();
    }

    @Test
    void countsHowOftenItBegan() {
        assertThat(hearing.round()).isZero();
        hearing.begin();
        hearing.lose();
        assertThat(hearing.round()).isEqualTo(1);
        hearing.begin();
        assertThat(hearing.round()).isEqualTo(2);
    }
}
