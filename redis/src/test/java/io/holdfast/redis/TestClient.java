package io.holdfast.redis;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LockView.Origin;
import io.holdfast.LossReason;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** One client of the store itself, without the engine: nothing is renewed or withdrawn unless a test says so. */
final class TestClient implements AutoCloseable {

    static final Duration TTL = Duration.ofSeconds(30);

    /** What a renewal told a ticket. */
    enum Told {
        KEPT,
        GONE,
        FAILING,
        NOTHING
    }

    /** A ticket, and how often its listener heard what. */
    static final class TestTicket implements Ticket.Listener {
        final AtomicInteger grants = new AtomicInteger();
        final AtomicInteger kept = new AtomicInteger();
        final AtomicInteger failures = new AtomicInteger();
        final AtomicInteger ends = new AtomicInteger();
        final AtomicInteger unwanted = new AtomicInteger();
        private final Ticket ticket;

        private TestTicket(String name, OwnerId owner, Demand demand, Duration ttl) {
            Origin origin =
                    new Origin("test", "host", 42, Thread.currentThread().getName());
            Validity validity = new Validity(TimeSource.system(), Duration.ZERO);
            ticket = new Ticket(name, owner, demand, ttl, origin, validity, this);
        }

        private TestTicket(TestTicket other) {
            ticket = other.ticket.forNode(this);
        }

        /** The same owner asks again. */
        TestTicket repeated() {
            return new TestTicket(this);
        }

        Ticket ticket() {
            return ticket;
        }

        OwnerId owner() {
            return ticket.owner();
        }

        long token() {
            return ticket.storeToken();
        }

        boolean isGranted() {
            return grants.get() > 0;
        }

        /** Whether the store has answered that it waits, whatever came after. */
        boolean hasQueued() {
            return kept.get() > 0;
        }

        /** How often it heard of a grant or of its end. */
        int news() {
            return grants.get() + ends.get() + unwanted.get();
        }

        boolean isLost(LossReason reason) {
            return ticket.ending().map(Ticket.Ending::reason).equals(Optional.of(reason));
        }

        @Override
        public void granted() {
            grants.incrementAndGet();
        }

        @Override
        public void kept() {
            kept.incrementAndGet();
        }

        @Override
        public void failing(LockException cause) {
            failures.incrementAndGet();
        }

        @Override
        public void ended(Ticket.Ending why) {
            ends.incrementAndGet();
        }

        @Override
        public void unwanted() {
            unwanted.incrementAndGet();
        }
    }

    private final OwnerId.Source owners = new OwnerId.Source();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(TestClient::daemon);
    private final ExecutorService background = Executors.newCachedThreadPool(TestClient::daemon);
    private final TimeSource time = TimeSource.system();
    final RedisStore store;

    TestClient(String uri) {
        StoreContext context = new StoreContext(owners.client(), "test", time, this::at, background);
        store = (RedisStore) new RedisStores().store(StoreUri.parse(uri)).open(context);
    }

    private StoreContext.Alarm at(long nanos, Runnable task) {
        try {
            Future<?> scheduled = timer.schedule(task, nanos - System.nanoTime(), TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        } catch (RejectedExecutionException closed) {
            return () -> {};
        }
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "test-client");
        thread.setDaemon(true);
        return thread;
    }

    String id() {
        return owners.client();
    }

    Deadline soon() {
        return Deadline.after(time, Duration.ofSeconds(5));
    }

    Deadline within(Duration wait) {
        return Deadline.after(time, wait);
    }

    TestTicket ticket(String name, Demand demand, Duration ttl) {
        return new TestTicket(name, owners.next(), demand, ttl);
    }

    TestTicket ticket(String name) {
        return ticket(name, Demand.exclusive(), TTL);
    }

    /** With a listener of the test's own. */
    Ticket ticket(String name, Ticket.Listener listener) {
        return ticket(name).ticket.forNode(listener);
    }

    Optional<Refusal> attempt(String name) {
        return attempt(ticket(name));
    }

    Optional<Refusal> attempt(TestTicket ticket) {
        return store.request(ticket.ticket, Mode.TRY, soon());
    }

    TestTicket grant(String name) {
        return grant(ticket(name));
    }

    TestTicket grant(TestTicket ticket) {
        Optional<Refusal> refusal = attempt(ticket);
        if (refusal.isPresent() || !ticket.isGranted()) {
            throw new AssertionError("not granted: " + ticket.ticket + ", " + refusal);
        }
        return ticket;
    }

    TestTicket enqueue(String name) {
        return enqueue(ticket(name));
    }

    TestTicket enqueue(TestTicket ticket) {
        Optional<Refusal> refusal = enqueue(ticket, soon());
        if (refusal.isPresent()) {
            throw new AssertionError("neither granted nor queued: " + refusal);
        }
        return ticket;
    }

    Optional<Refusal> enqueue(TestTicket ticket, Deadline deadline) {
        return store.request(ticket.ticket, Mode.QUEUE, deadline);
    }

    ReleaseAnswer release(TestTicket ticket) {
        return release(ticket, Duration.ZERO);
    }

    ReleaseAnswer release(TestTicket ticket, Duration linger) {
        return release(ticket, linger, soon());
    }

    ReleaseAnswer release(TestTicket ticket, Duration linger, Deadline deadline) {
        ticket.ticket.end();
        return store.release(ticket.ticket, linger, deadline);
    }

    Told renew(TestTicket ticket) {
        int keptBefore = ticket.kept.get() + ticket.grants.get();
        int failuresBefore = ticket.failures.get();
        store.renew(List.of(ticket.ticket), soon());
        if (ticket.isLost(LossReason.GONE)) {
            return Told.GONE;
        }
        if (ticket.failures.get() > failuresBefore) {
            return Told.FAILING;
        }
        return ticket.kept.get() + ticket.grants.get() > keptBefore ? Told.KEPT : Told.NOTHING;
    }

    Withdrawal withdraw(TestTicket ticket) {
        ticket.ticket.end();
        return store.withdraw(ticket.ticket, soon());
    }

    @Override
    public void close() {
        store.close();
        timer.shutdownNow();
        background.shutdownNow();
    }
}
