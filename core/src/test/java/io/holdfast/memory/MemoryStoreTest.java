package io.holdfast.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.ManualTime;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Validity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The memory store")
class MemoryStoreTest {

    private static final Duration TTL = Duration.ofSeconds(10);

    private final List<Runnable> alarms = new ArrayList<>();
    private final ManualTime time = new ManualTime();
    private final LockStore store = MemoryStore.unnamed()
            .open(new StoreContext(
                    "client",
                    "client",
                    time,
                    (at, task) -> {
                        alarms.add(task);
                        return () -> {};
                    },
                    Runnable::run));
    private final Deadline deadline = Deadline.after(time, TTL);

    @Test
    @DisplayName("P8 waiters that come and go leave no alarms behind while another waits")
    void waitersThatComeAndGoLeaveNoAlarmsBehindWhileAnotherWaits() {
        ask(1, Duration.ofDays(1));
        ask(2, Duration.ofHours(1));

        for (int i = 0; i < 1000; i++) {
            withdraw(ask(10 + i, TTL));
        }
        ring();

        assertThat(alarms).hasSize(1);
    }

    @Test
    @DisplayName("P8 the alarm goes with the last waiter, and the next waiter sets a new one")
    void alarmGoesWithTheLastWaiterAndTheNextWaiterSetsANewOne() {
        ask(1, Duration.ofDays(1));
        withdraw(ask(2, TTL));

        ring();
        assertThat(alarms).isEmpty();

        ask(3, TTL);
        assertThat(alarms).hasSize(1);
    }

    @Test
    @DisplayName("P1 a pushed grant lasts as long as its base says though the release looked at the clock before")
    void pushedGrantLastsAsLongAsItsBaseSaysThoughTheReleaseLookedAtTheClockBefore() {
        Ticket held = ask(1, Duration.ofDays(1));
        Ticket waiting = ask(2, TTL);

        Duration heartbeat = TTL.dividedBy(2);
        time.advance(heartbeat);
        store.renew(List.of(waiting), deadline);
        time.advance(heartbeat.negated());
        held.end();
        store.release(held, Duration.ZERO, deadline);
        assertThat(waiting.isValid()).isTrue();

        long promised = waiting.baseNanos() + waiting.givenTtl().toNanos();
        time.advance(Duration.ofNanos(promised - time.nanoTime() - 1));
        assertThat(store.view("orders", deadline).isHeld()).isTrue();
    }

    private void ring() {
        List<Runnable> due = new ArrayList<>(alarms);
        alarms.clear();
        due.forEach(Runnable::run);
    }

    private Ticket ask(long number, Duration ttl) {
        Ticket ticket = new Ticket(
                "orders",
                new OwnerId("client", number),
                Demand.exclusive(),
                ttl,
                new LockView.Origin("client", "host", 1, "main"),
                new Validity(time, Duration.ZERO),
                new Ticket.Listener() {});
        assertThat(store.request(ticket, Mode.QUEUE, deadline)).isEmpty();
        return ticket;
    }

    private void withdraw(Ticket ticket) {
        ticket.end();
        store.withdraw(ticket, deadline);
    }
}
