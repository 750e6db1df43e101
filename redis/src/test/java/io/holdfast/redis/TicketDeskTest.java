package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("When a ticket looks after its holder")
class TicketDeskTest {

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
    private final List<TicketDesk.Waiting> checked = new ArrayList<>();
    private final OwnerId.Source owners = new OwnerId.Source();
    private final StoreContext context = new StoreContext(
            owners.client(), "test", TimeSource.system(), this::at, Runnable::run, (owner, reason, detail) -> {});
    private final TicketDesk desk = new TicketDesk(context);
    private TicketDesk.Waiting ticket;

    @BeforeEach
    void queue() {
        Request request = new Request(
                "lock",
                owners.next(),
                Demand.exclusive(),
                Duration.ofSeconds(30),
                new Origin("test", "host", 42, "main"));
        ticket = desk.add(request, LockKeys.of("holdfast:", "lock"), new TestClient.Heard(), 0);
    }

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

    private void answered(long sentNanos, long checkNanos) {
        desk.checkAsAnswered(ticket, sentNanos, checkNanos, checked::add);
    }

    private void told(long heardNanos, long checkNanos) {
        desk.checkAsTold(ticket, heardNanos, checkNanos, checked::add);
    }

    @Test
    void aNewerAnswerMovesTheAlarm() {
        answered(10, 100);
        answered(50, 140);

        assertThat(armed()).containsExactly(140L);
    }

    @Test
    void anOlderAnswerDoesNotPutItOff() {
        answered(50, 140);
        answered(10, 500);

        assertThat(armed()).containsExactly(140L);
    }

    @Test
    void anAnswerToARequestFromBeforeTheMessageDoesNotPutItOff() {
        told(20, 100);
        answered(10, 500);

        assertThat(armed()).containsExactly(100L);
    }

    @Test
    void anAnswerToARequestFromAfterTheMessageDoes() {
        told(20, 100);
        answered(30, 500);

        assertThat(armed()).containsExactly(500L);
    }

    @Test
    void aMessageNeverPutsTheAlarmOff() {
        answered(10, 100);
        told(20, 500);
        assertThat(armed()).containsExactly(100L);

        told(30, 50);
        assertThat(armed()).containsExactly(50L);
    }

    @Test
    void anAlarmThatWentOffIsInNobodysWay() {
        told(20, 100);
        alarms.get(0).task.run();
        told(30, 500);

        assertThat(checked).containsExactly(ticket);
        assertThat(armed()).contains(500L);
    }

    @Test
    void noAlarmOutlivesItsTicket() {
        answered(10, 100);
        desk.forget(ticket.request().owner());
        told(20, 50);

        assertThat(armed()).isEmpty();
    }
}
