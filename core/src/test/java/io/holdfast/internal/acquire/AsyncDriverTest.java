package io.holdfast.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockOptions;
import io.holdfast.LockView.Origin;
import io.holdfast.internal.lease.HeldLease;
import io.holdfast.internal.lease.LeakWatch;
import io.holdfast.internal.lease.Leases;
import io.holdfast.internal.telemetry.Telemetry;
import io.holdfast.internal.ticket.Cleanup;
import io.holdfast.internal.ticket.HandoffLimits;
import io.holdfast.internal.ticket.Keeper;
import io.holdfast.internal.ticket.StoreRequests;
import io.holdfast.internal.ticket.Tickets;
import io.holdfast.internal.work.Callbacks;
import io.holdfast.internal.work.ClientThreads;
import io.holdfast.internal.work.Lifecycle;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("The driver of asynchronous acquisitions")
@Timeout(60)
class AsyncDriverTest {

    private static final String LOCK = "orders";

    private final TimeSource time = TimeSource.system();
    private final Lifecycle lifecycle = new Lifecycle("client");
    private final ClientThreads threads = new ClientThreads("client", time);
    private final Callbacks callbacks =
            new Callbacks(Optional.empty(), threads.callbacks(), threads.lossCallbacks(), lifecycle);
    private final Telemetry telemetry = new Telemetry(List.of(), List.of(), callbacks, time);
    private final LockStore store = MemoryStore.unnamed()
            .open(new StoreContext("client", "client", time, threads.timer(), threads.storeBackground()));
    private final StoreRequests requests = new StoreRequests(store, time, Duration.ofSeconds(5), lifecycle, telemetry);
    private final Validity validity = new Validity(time, Duration.ZERO);
    private final Cleanup cleanup = new Cleanup(requests, time, threads.timer(), threads.servers());
    private final Keeper keeper = new Keeper(requests, time, threads.timer(), threads.servers(), callbacks, () -> {});
    private final OwnerId.Source owners = new OwnerId.Source();

    @AfterEach
    void stop() {
        threads.stop();
    }

    @Test
    @DisplayName("P7 leaves the queue if there is no memory for the alarm that would end its wait")
    void leavesTheQueueIfThereIsNoMemoryForItsAlarm() {
        Ticket elsewhere = holdElsewhere();

        CompletableFuture<HeldLease> future = acquireWithoutMemoryForAlarms();

        assertThat(future).failsWithin(Duration.ofSeconds(20));
        await().until(() -> requests.view(LOCK).waiters().isEmpty());
        elsewhere.end();
        store.release(elsewhere, Duration.ZERO, requests.deadline());
        assertThat(requests.view(LOCK).isHeld()).isFalse();
    }

    private CompletableFuture<HeldLease> acquireWithoutMemoryForAlarms() {
        Acquisitions acquisitions = new Acquisitions(
                time,
                (nanos, task) -> {
                    throw new OutOfMemoryError("Java heap space (simulated)");
                },
                lifecycle,
                requests,
                new Tickets(owners, "client", "host", time, validity, keeper, cleanup),
                new Leases(
                        time,
                        requests,
                        validity,
                        new HandoffLimits(0, Duration.ZERO),
                        callbacks,
                        name -> threads.tasks(ClientThreads.NO_SERVER),
                        new LeakWatch()),
                telemetry,
                callbacks,
                name -> threads.tasks(ClientThreads.NO_SERVER),
                new LongWaits("client", Duration.ofMinutes(1), cleanup, time));
        LockTerms terms =
                LockTerms.of(LOCK, Demand.exclusive(), LockOptions.defaults(), store.traits(), new LockSites(time));
        return AsyncDriver.acquire(acquisitions, terms, acquisitions.endless(), lease -> {
            throw new AssertionError("granted");
        });
    }

    private Ticket holdElsewhere() {
        Ticket ticket = new Ticket(
                LOCK,
                new OwnerId("another-client", 1),
                Demand.exclusive(),
                Duration.ofDays(1),
                new Origin("another-client", "another-host", 1, "main"),
                validity,
                new Ticket.Listener() {});
        store.request(ticket, LockStore.Mode.TRY, requests.deadline());
        assertThat(ticket.isValid()).isTrue();
        return ticket;
    }
}
