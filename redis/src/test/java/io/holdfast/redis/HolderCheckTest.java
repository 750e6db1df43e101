package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("When a ticket asks whether its holder is still there")
class HolderCheckTest {

    /** An alarm that goes off when the test says so. */
    private static final class Alarm {
        private final long nanos;
        private final Runnable task;
        private boolean cancelled;

        Alarm(long nanos, Runnable task) {
            this.nanos = nanos;
            this.task = task;
        }
    }

    private final List<Alarm> alarms = new ArrayList<>();
    private final AtomicInteger checks = new AtomicInteger();
    private final StoreContext context =
            new StoreContext(new OwnerId.Source().client(), "test", TimeSource.system(), this::at, Runnable::run);
    private final HolderCheck check = new HolderCheck(context, checks::incrementAndGet);

    private StoreContext.Alarm at(long nanos, Runnable task) {
        Alarm alarm = new Alarm(nanos, task);
        alarms.add(alarm);
        return () -> alarm.cancelled = true;
    }

    private List<Long> armed() {
        return alarms.stream()
                .filter(alarm -> !alarm.cancelled)
                .map(alarm -> alarm.nanos)
                .toList();
    }

    @Test
    void aNewerAnswerMovesTheAlarm() {
        check.planAsAnswered(10, 100);
        check.planAsAnswered(50, 140);

        assertThat(armed()).containsExactly(140L);
    }

    @Test
    void anOlderAnswerDoesNotPutItOff() {
        check.planAsAnswered(50, 140);
        check.planAsAnswered(10, 500);

        assertThat(armed()).containsExactly(140L);
    }

    @Test
    void anAnswerToARequestFromBeforeTheMessageDoesNotPutItOff() {
        check.planAsTold(20, 100);
        check.planAsAnswered(10, 500);

        assertThat(armed()).containsExactly(100L);
    }

    @Test
    void anAnswerToARequestFromAfterTheMessageDoes() {
        check.planAsTold(20, 100);
        check.planAsAnswered(30, 500);

        assertThat(armed()).containsExactly(500L);
    }

    @Test
    void aMessageNeverPutsTheAlarmOff() {
        check.planAsAnswered(10, 100);
        check.planAsTold(20, 500);
        assertThat(armed()).containsExactly(100L);

        check.planAsTold(30, 50);
        assertThat(armed()).containsExactly(50L);
    }

    @Test
    void anAlarmThatWentOffIsInNobodysWay() {
        check.planAsTold(20, 100);
        alarms.get(0).task.run();
        check.planAsTold(30, 500);

        assertThat(checks).hasValue(1);
        assertThat(armed()).contains(500L);
    }

    @Test
    void noAlarmOutlivesItsTicket() {
        check.planAsAnswered(10, 100);
        check.cancel();
        check.planAsTold(20, 50);

        assertThat(armed()).isEmpty();
    }
}
