package io.holdfast.internal.ticket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockOptions;
import io.holdfast.internal.telemetry.Telemetry;
import io.holdfast.internal.work.Callbacks;
import io.holdfast.internal.work.Lifecycle;
import io.holdfast.internal.work.ServerThreads;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The keeper")
class KeeperTest {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Lifecycle LIFECYCLE = new Lifecycle("client");

    private final List<String> renewed = new CopyOnWriteArrayList<>();
    private final TreeMap<Long, Runnable> alarms = new TreeMap<>();
    private volatile @Nullable Thread outOfMemory;
    private final StoppedClock clock = new StoppedClock();
    private final Callbacks callbacks = new Callbacks(Optional.empty(), Runnable::run, Runnable::run, LIFECYCLE);
    private final StoreRequests requests = new StoreRequests(
            notingRenewals(
                    MemoryStore.unnamed().open(new StoreContext("client", "client", clock, this::at, Runnable::run))),
            clock,
            Duration.ofSeconds(1),
            LIFECYCLE,
            new Telemetry(List.of(), List.of(), callbacks, clock));
    private final ServerThreads threads = new ServerThreads("keeper-test-");
    private final Keeper keeper = new Keeper(requests, clock, this::at, threads, callbacks, () -> {});
    private final Tickets tickets = new Tickets(
            new OwnerId.Source(),
            "client",
            "host",
            clock,
            new Validity(clock, Duration.ZERO),
            keeper,
            new Cleanup(requests, clock, this::at, threads));

    @Test
    void doesNotSpinWhileSomebodyWhoseTimeIsOverIsOnItsWayToItsEnd() {
        long userEnds = Duration.ofSeconds(5).toNanos();
        KeptTicket kept = tickets.open(
                "orders",
                Demand.exclusive(),
                LockOptions.defaults().withTtl(TTL),
                tickets.origin("thread", Optional.empty(), List.of()),
                new BusyUser(userEnds),
                0);
        kept.ticket().granted(1, TTL, 0);
        kept.keep();

        clock.now = alarms.firstKey();
        assertThat(clock.now).isEqualTo(userEnds);
        alarms.pollFirstEntry().getValue().run();

        assertThat(alarms.firstKey()).isGreaterThan(clock.now);
    }

    @Test
    @DisplayName("P4 renews what was due though there was no memory for the next alarm")
    void renewsWhatWasDueThoughThereWasNoMemoryForTheNextAlarm() {
        KeptTicket kept = tickets.open(
                "orders",
                Demand.exclusive(),
                LockOptions.defaults().withTtl(TTL),
                tickets.origin("thread", Optional.empty(), List.of()),
                new BusyUser(Duration.ofHours(1).toNanos()),
                0);
        requests.request(kept, LockStore.Mode.TRY, requests.deadline(), 0);
        kept.keep();
        clock.now = alarms.firstKey();
        Runnable walk = alarms.pollFirstEntry().getValue();
        outOfMemory = Thread.currentThread();

        walk.run();

        await().until(() -> kept.ticket().baseNanos() == clock.now);
        await().until(kept::beginRenewal);
    }

    /** A store may not have time for all. */
    @Test
    void renewsThoseFirstThatHaveTheLeastTimeLeft() {
        for (int number = 0; number < 5; number++) {
            KeptTicket kept = tickets.open(
                    "orders-" + number,
                    Demand.exclusive(),
                    LockOptions.defaults().withTtl(TTL),
                    tickets.origin("thread", Optional.empty(), List.of()),
                    new BusyUser(Duration.ofHours(1).toNanos()),
                    0);
            kept.ticket().granted(1, TTL, Duration.ofSeconds(-number).toNanos());
            kept.keep();
        }
        clock.now = TTL.dividedBy(3).toNanos();

        alarms.pollFirstEntry().getValue().run();

        await().until(() -> renewed.size() == 5);
        assertThat(renewed).containsExactly("orders-4", "orders-3", "orders-2", "orders-1", "orders-0");
    }

    private LockStore notingRenewals(LockStore inner) {
        return (LockStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {LockStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("renew")) {
                        ((List<?>) arguments[0]).forEach(ticket -> renewed.add(((Ticket) ticket).name()));
                    }
                    return method.invoke(inner, arguments);
                });
    }

    private StoreContext.Alarm at(long nanos, Runnable task) {
        if (Thread.currentThread() == outOfMemory) {
            throw new OutOfMemoryError("Java heap space (simulated)");
        }
        alarms.put(nanos, task);
        return () -> alarms.remove(nanos, task);
    }

    /** As a lease that is being downgraded when its longest hold is over. */
    private record BusyUser(long endNanos) implements TicketUser {

        @Override
        public void changed() {}

        @Override
        public long longestNanos(long ticketsEndNanos) {
            return endNanos;
        }
    }

    private static final class StoppedClock implements TimeSource {

        private long now;

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public void parkUntil(Object blocker, long nanos) {
            throw new UnsupportedOperationException("nobody waits here");
        }
    }
}
