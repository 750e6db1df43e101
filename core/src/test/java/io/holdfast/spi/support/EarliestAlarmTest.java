package io.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.StoreContext.Alarm;
import io.holdfast.spi.StoreContext.Timer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The earliest alarm")
class EarliestAlarmTest {

    private final ManualTimer timer = new ManualTimer();
    private final List<Long> runs = new ArrayList<>();
    private final EarliestAlarm alarm = new EarliestAlarm(timer, () -> runs.add(timer.now));

    @Test
    void runsAtTheTimeAskedFor() {
        alarm.at(10);

        timer.passUntil(9);
        assertThat(runs).isEmpty();
        timer.passUntil(10);

        assertThat(runs).containsExactly(10L);
    }

    @Test
    void runsAtTheEarliestOfManyTimesAndSetsNoMoreAlarmsThanThat() {
        alarm.at(10);
        alarm.at(20);
        alarm.at(15);
        alarm.at(10);

        assertThat(timer.tasks).hasSize(1);
        timer.passUntil(100);
        assertThat(runs).containsExactly(10L);
    }

    @Test
    void runsOnceThoughAnEarlierTimeReplacedALaterOne() {
        alarm.at(20);
        alarm.at(10);

        timer.passUntil(100);

        assertThat(runs).containsExactly(10L);
    }

    @Test
    void runsAtTheLaterTimeIfThereWasNoMemoryForAnEarlierAlarm() {
        alarm.at(20);
        timer.failure = new OutOfMemoryError("simulated");
        assertThatThrownBy(() -> alarm.at(10)).isSameAs(timer.failure);
        timer.failure = null;

        timer.passUntil(20);
        assertThat(runs).containsExactly(20L);

        alarm.at(30);
        timer.passUntil(30);
        assertThat(runs).containsExactly(20L, 30L);
    }

    @Test
    void isSetByTheNextWhoAsksIfThereWasNoMemoryForTheFirst() {
        timer.failure = new OutOfMemoryError("simulated");
        assertThatThrownBy(() -> alarm.at(10)).isSameAs(timer.failure);
        timer.failure = null;

        alarm.at(15);
        timer.passUntil(15);

        assertThat(runs).containsExactly(15L);
    }

    @Test
    void runsAgainForATimeThatIsAskedForAfterItRan() {
        alarm.at(10);
        timer.passUntil(10);

        alarm.at(30);
        timer.passUntil(30);

        assertThat(runs).containsExactly(10L, 30L);
    }

    @Test
    void runsAgainForATimeThatItsTaskAsksFor() {
        List<Long> seen = new ArrayList<>();
        EarliestAlarm[] own = new EarliestAlarm[1];
        own[0] = new EarliestAlarm(timer, () -> {
            seen.add(timer.now);
            if (seen.size() < 3) {
                own[0].at(timer.now + 5);
            }
        });

        own[0].at(5);
        timer.passUntil(100);

        assertThat(seen).containsExactly(5L, 10L, 15L);
    }

    /** The later plan is forgotten with the earlier one: who is still to come asks again when the task runs. */
    @Test
    void leavesTimesThatWereAskedForMeanwhileToItsTask() {
        alarm.at(10);
        alarm.at(20);
        timer.passUntil(10);
        alarm.at(20);

        timer.passUntil(20);

        assertThat(runs).containsExactly(10L, 20L);
    }

    @Test
    void knowsTimesThatRunOverTheEndOfTheClock() {
        timer.now = Long.MAX_VALUE - 5;
        alarm.at(Long.MIN_VALUE + 100);
        alarm.at(Long.MAX_VALUE - 1);

        timer.passUntil(Long.MAX_VALUE - 1);

        assertThat(runs).containsExactly(Long.MAX_VALUE - 1);
    }

    private static final class ManualTimer implements Timer {

        private record Task(long at, Runnable task) {}

        private final List<Task> tasks = new ArrayList<>();
        private long now;
        private @Nullable Error failure;

        @Override
        public Alarm at(long nanos, Runnable task) {
            if (failure != null) {
                throw failure;
            }
            Task added = new Task(nanos, task);
            tasks.add(added);
            return () -> tasks.remove(added);
        }

        void passUntil(long nanos) {
            while (true) {
                Task next = tasks.stream()
                        .filter(task -> task.at - nanos <= 0)
                        .min((a, b) -> Long.signum(a.at - b.at))
                        .orElse(null);
                if (next == null) {
                    now = nanos;
                    return;
                }
                tasks.remove(next);
                now = next.at;
                next.task.run();
            }
        }
    }
}
