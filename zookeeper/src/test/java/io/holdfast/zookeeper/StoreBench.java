package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** A store with what its client would lend it, and short words for what tests ask of it. */
final class StoreBench implements AutoCloseable {

    /** What became of a ticket by a renewal. */
    enum Renewed {
        KEPT,
        GONE,
        FAILING
    }

    final ZooKeeperStore store;
    final Duration ttl;

    private final OwnerId.Source owners = new OwnerId.Source();
    private final ExecutorService background = Executors.newCachedThreadPool(StoreBench::daemon);
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(StoreBench::daemon);
    private final Validity validity;

    StoreBench(StoreFactory factory, Duration ttl) {
        this.ttl = ttl;
        StoreContext context = new StoreContext(
                owners.client(),
                "bench",
                TimeSource.system(),
                (atNanos, task) -> {
                    Future<?> alarm = timer.schedule(task, atNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
                    return () -> alarm.cancel(false);
                },
                background);
        store = (ZooKeeperStore) factory.open(context);
        validity = new Validity(TimeSource.system(), store.traits().minMargin());
    }

    static StoreBench at(String uri, Duration ttl) {
        return new StoreBench(new ZooKeeperStores().store(StoreUri.parse(uri)), ttl);
    }

    TestTicket ticket(String name) {
        return ticket(name, Demand.exclusive());
    }

    TestTicket ticket(String name, Demand demand) {
        return ticket(name, demand, ttl);
    }

    TestTicket ticket(String name, Demand demand, Duration itsTtl) {
        return new TestTicket(listener -> ticket(name, demand, itsTtl, listener));
    }

    Ticket ticket(String name, Demand demand, Duration itsTtl, Ticket.Listener listener) {
        Origin origin = new Origin("bench", "host", 1, "thread");
        return new Ticket(name, owners.next(), demand, itsTtl, origin, validity, listener);
    }

    TestTicket acquire(String name) {
        return acquire(ticket(name));
    }

    TestTicket acquire(String name, Demand demand) {
        return acquire(ticket(name, demand));
    }

    TestTicket acquire(TestTicket asked) {
        assertThat(store.request(asked.ticket, Mode.QUEUE, soon())).isEmpty();
        assertThat(asked.grants).hasSize(1);
        return asked;
    }

    TestTicket queue(String name) {
        return queue(ticket(name));
    }

    TestTicket queue(String name, Demand demand) {
        return queue(ticket(name, demand));
    }

    TestTicket queue(TestTicket asked) {
        queue(asked.ticket);
        assertThat(asked.grants).isEmpty();
        return asked;
    }

    void queue(Ticket ticket) {
        assertThat(store.request(ticket, Mode.QUEUE, soon())).isEmpty();
        assertThat(ticket.isQueued()).isTrue();
    }

    /** Why a single try got nothing; empty if it was granted. */
    Optional<Refusal> refusal(String name) {
        return refusal(name, soon());
    }

    Optional<Refusal> refusal(String name, Deadline deadline) {
        return refusal(ticket(name), deadline);
    }

    Optional<Refusal> refusal(TestTicket asked, Deadline deadline) {
        Optional<Refusal> refusal = store.request(asked.ticket, Mode.TRY, deadline);
        assertThat(asked.grants).hasSize(refusal.isPresent() ? 0 : 1);
        return refusal;
    }

    Renewed renew(TestTicket asked) {
        return renew(asked, soon());
    }

    Renewed renew(TestTicket asked, Deadline deadline) {
        int kept = asked.kept.get();
        asked.failures.clear();
        store.renew(List.of(asked.ticket), deadline);
        if (asked.ticket.ending().isPresent()) {
            return Renewed.GONE;
        }
        if (!asked.failures.isEmpty()) {
            return Renewed.FAILING;
        }
        assertThat(asked.kept.get()).as("reports").isGreaterThan(kept);
        return Renewed.KEPT;
    }

    ReleaseAnswer release(TestTicket held) {
        held.ticket.end();
        return store.release(held.ticket, Duration.ZERO, soon());
    }

    Withdrawal withdraw(TestTicket asked) {
        asked.ticket.end();
        return store.withdraw(asked.ticket, soon());
    }

    Deadline soon() {
        return within(Duration.ofSeconds(20));
    }

    Deadline within(Duration wait) {
        return Deadline.after(TimeSource.system(), wait);
    }

    <T> Future<T> elsewhere(Callable<T> task) {
        return background.submit(task);
    }

    @Override
    public void close() {
        store.close();
        timer.shutdownNow();
        background.shutdownNow();
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "bench");
        thread.setDaemon(true);
        return thread;
    }
}
