package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.LockView.Origin;
import io.holdfast.Renewal;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.OwnerId;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** A store with a bare client around it: what the engine would ask, asked by hand. */
final class TestClient implements AutoCloseable {

    static final Duration TTL = Duration.ofSeconds(10);

    /** What became of a ticket by a renewal or an extension. */
    enum Renewed {
        KEPT,
        GONE,
        FAILING
    }

    final EtcdStore store;

    private final OwnerId.Source owners = new OwnerId.Source();
    private final Validity validity = new Validity(TimeSource.system(), Duration.ZERO);
    private final ExecutorService background = Executors.newCachedThreadPool(TestClient::daemon);
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(TestClient::daemon);

    TestClient(StoreFactory factory) {
        StoreContext.Timer alarms = (nanos, task) -> {
            Future<?> future = timer.schedule(task, nanos - System.nanoTime(), TimeUnit.NANOSECONDS);
            return () -> future.cancel(false);
        };
        store = (EtcdStore)
                factory.open(new StoreContext(owners.client(), "test", TimeSource.system(), alarms, background));
    }

    static TestClient of(String uri) {
        return new TestClient(new EtcdStores().store(StoreUri.parse(uri)));
    }

    TestTicket ticket(String name, Demand demand, Duration ttl) {
        return ticket(name, demand, ttl, Renewal.AUTO);
    }

    TestTicket ticket(String name, Demand demand, Duration ttl, Renewal renewal) {
        Origin origin = new Origin("test", "here", 1, "main");
        return new TestTicket(listener ->
                new Ticket(name, owners.next(), demand, ttl, origin, validity, listener, System.nanoTime(), renewal));
    }

    TestTicket ticket(String name) {
        return ticket(name, Demand.exclusive(), TTL);
    }

    static Deadline soon() {
        return in(Duration.ofSeconds(10));
    }

    static Deadline in(Duration time) {
        return Deadline.after(TimeSource.system(), time);
    }

    /** Whether one try got it. */
    boolean attempt(TestTicket asked, Deadline deadline) {
        boolean granted = store.request(asked.ticket, Mode.TRY, deadline).isEmpty();
        assertThat(asked.isGranted()).isEqualTo(granted);
        return granted;
    }

    boolean attempt(TestTicket asked) {
        return attempt(asked, soon());
    }

    boolean attempt(String name) {
        return attempt(ticket(name));
    }

    /** Takes a lock, as soon as it is free. */
    TestTicket grant(String name) {
        return grant(ticket(name));
    }

    TestTicket grant(TestTicket asked) {
        return enqueue(asked).arrived();
    }

    TestTicket enqueue(String name) {
        return enqueue(ticket(name));
    }

    TestTicket enqueue(TestTicket asked) {
        assertThat(store.request(asked.ticket, Mode.QUEUE, soon())).isEmpty();
        return asked;
    }

    ReleaseAnswer release(TestTicket held) {
        return release(held, Duration.ZERO, soon());
    }

    ReleaseAnswer release(TestTicket held, Duration linger, Deadline deadline) {
        held.ticket.end();
        return store.release(held.ticket, linger, deadline);
    }

    Renewed renew(TestTicket asked) {
        int before = asked.kept.get();
        asked.failure = Optional.empty();
        store.renew(List.of(asked.ticket), soon());
        if (asked.ticket.state() == Ticket.State.ENDED) {
            return Renewed.GONE;
        }
        if (asked.failure.isPresent()) {
            return Renewed.FAILING;
        }
        assertThat(asked.kept.get()).as("reports").isGreaterThan(before);
        return Renewed.KEPT;
    }

    Renewed extend(TestTicket held, Duration ttl, Deadline deadline) {
        try {
            store.extend(held.ticket, ttl, deadline);
        } catch (LockException e) {
            return Renewed.FAILING;
        }
        return held.ticket.state() == Ticket.State.ENDED ? Renewed.GONE : Renewed.KEPT;
    }

    Withdrawal withdraw(TestTicket asked) {
        asked.ticket.end();
        return store.withdraw(asked.ticket, soon());
    }

    List<LockView> views(String prefix) {
        return store.views(prefix, Optional.empty(), 1_000, soon()).locks();
    }

    @Override
    public void close() {
        store.close();
        timer.shutdownNow();
        background.shutdownNow();
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "test-client");
        thread.setDaemon(true);
        return thread;
    }
}
