package io.holdfast.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The deadlines of replies")
class ReplyDeadlinesTest {

    /** Stands still until a test moves it. */
    private static final class Clock implements TimeSource {
        private long nowNanos;

        @Override
        public long nanoTime() {
            return nowNanos;
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            throw new UnsupportedOperationException();
        }
    }

    private record Planned(long nanos, Runnable task) {}

    private final Clock clock = new Clock();
    private final List<Planned> planned = new ArrayList<>();
    private final ReplyDeadlines deadlines = new ReplyDeadlines(
            new StoreContext(new OwnerId.Source().client(), "test", clock, this::at, Runnable::run));
    private final AtomicInteger cuts = new AtomicInteger();
    private final ReplyDeadlines.Guard guard = deadlines.guard(cuts::incrementAndGet);

    private StoreContext.Alarm at(long nanos, Runnable task) {
        Planned alarm = new Planned(nanos, task);
        planned.add(alarm);
        return () -> planned.remove(alarm);
    }

    private Deadline in(long millis) {
        return Deadline.after(clock, Duration.ofMillis(millis));
    }

    private void advance(long millis) {
        clock.nowNanos += Duration.ofMillis(millis).toNanos();
        List<Planned> due = planned.stream()
                .filter(alarm -> alarm.nanos <= clock.nowNanos)
                .toList();
        planned.removeAll(due);
        due.forEach(alarm -> alarm.task.run());
    }

    @Test
    void cutAConnectionWhoseReplyIsLate() {
        Deadline deadline = in(10);
        guard.expectBy(deadline);

        advance(9);
        assertThat(cuts).hasValue(0);
        advance(1);

        assertThat(cuts).hasValue(1);
        assertThat(guard.isLate(deadline)).isTrue();
        assertThatThrownBy(() -> guard.replied(deadline)).satisfies(e -> assertThat(Failures.isTimeout(e))
                .isTrue());
    }

    @Test
    void leaveAloneTheRequestAfterOneThatWasAnswered() {
        Deadline first = in(10);
        guard.expectBy(first);
        guard.replied(first);
        Deadline second = in(30);
        guard.expectBy(second);

        advance(20);
        assertThat(cuts).hasValue(0);
        assertThatCode(() -> guard.replied(second)).doesNotThrowAnyException();
        advance(20);

        assertThat(cuts).hasValue(0);
        assertThat(planned).as("alarms while nothing is waited for").isEmpty();
    }

    @Test
    void haveOneAlarmForAllConnections() {
        for (int i = 0; i < 100; i++) {
            deadlines.guard(cuts::incrementAndGet).expectBy(in(100 + i));
        }
        guard.expectBy(in(10));

        assertThat(planned).hasSize(1);
        advance(10);
        assertThat(cuts).hasValue(1);
        for (int i = 0; i < 100; i++) {
            advance(90);
        }
        assertThat(cuts).hasValue(101);
    }

    @Test
    void endWithTheStore() {
        Deadline deadline = in(10);
        guard.expectBy(deadline);
        deadlines.close();
        assertThat(cuts).hasValue(1);
        assertThat(guard.isLate(deadline)).as("its deadline has passed").isFalse();

        deadlines.guard(cuts::incrementAndGet).expectBy(in(10));
        assertThat(cuts).hasValue(2);
    }
}
