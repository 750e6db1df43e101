package io.holdfast.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.ManualTime;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.QueueingStore;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TicketListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The memory store")
class MemoryStoreTest {

    private static final Duration TTL = Duration.ofSeconds(10);
    private static final TicketListener SILENT = new TicketListener() {
        @Override
        public void granted(Grant grant) {}

        @Override
        public void lost(String reason) {}
    };

    private final List<Runnable> alarms = new ArrayList<>();
    private final ManualTime time = new ManualTime();
    private final QueueingStore store = (QueueingStore) MemoryStore.unnamed()
            .open(new StoreContext(
                    "client",
                    "client",
                    time,
                    (at, task) -> {
                        alarms.add(task);
                        return () -> {};
                    },
                    Runnable::run,
                    (owner, reason, detail) -> {}));
    private final Deadline deadline = Deadline.after(time, TTL);

    @Test
    @DisplayName("P8 waiters that come and go leave no alarms behind while another waits")
    void waitersThatComeAndGoLeaveNoAlarmsBehindWhileAnotherWaits() {
        store.attempt(request(1, Duration.ofDays(1)), deadline);
        store.enqueue(request(2, Duration.ofHours(1)), SILENT, deadline);

        for (int i = 0; i < 1000; i++) {
            Request passing = request(10 + i, TTL);
            store.enqueue(passing, SILENT, deadline);
            store.withdraw(passing, deadline);
        }
        ring();

        assertThat(alarms).hasSize(1);
    }

    @Test
    @DisplayName("P8 the alarm goes with the last waiter, and the next waiter sets a new one")
    void alarmGoesWithTheLastWaiterAndTheNextWaiterSetsANewOne() {
        Request first = request(2, TTL);
        store.attempt(request(1, Duration.ofDays(1)), deadline);
        store.enqueue(first, SILENT, deadline);
        store.withdraw(first, deadline);

        ring();
        assertThat(alarms).isEmpty();

        store.enqueue(request(3, TTL), SILENT, deadline);
        assertThat(alarms).hasSize(1);
    }

    @Test
    @DisplayName("P1 a pushed grant lasts as long as its base says though the release looked at the clock before")
    void pushedGrantLastsAsLongAsItsBaseSaysThoughTheReleaseLookedAtTheClockBefore() {
        Grant held = ((Answer.Granted) store.attempt(request(1, Duration.ofDays(1)), deadline)).grant();
        List<Grant> pushed = new ArrayList<>();
        Ticket ticket = ((Answer.Queued) store.enqueue(request(2, TTL), pushesTo(pushed), deadline)).ticket();

        Duration heartbeat = TTL.dividedBy(2);
        time.advance(heartbeat);
        store.renew(List.of(new RenewalRequest(ticket, TTL)), deadline);
        time.advance(heartbeat.negated());
        store.release(held, Duration.ZERO, deadline);

        long promised = pushed.get(0).baseNanos() + pushed.get(0).ttl().toNanos();
        time.advance(Duration.ofNanos(promised - time.nanoTime() - 1));
        assertThat(store.view("orders", deadline).isHeld()).isTrue();
    }

    private static TicketListener pushesTo(List<Grant> grants) {
        return new TicketListener() {
            @Override
            public void granted(Grant grant) {
                grants.add(grant);
            }

            @Override
            public void lost(String reason) {}
        };
    }

    private void ring() {
        List<Runnable> due = new ArrayList<>(alarms);
        alarms.clear();
        due.forEach(Runnable::run);
    }

    private static Request request(long number, Duration ttl) {
        return new Request(
                "orders",
                new OwnerId("client", number),
                Demand.exclusive(),
                ttl,
                new LockView.Origin("client", "host", 1, "main"));
    }
}
