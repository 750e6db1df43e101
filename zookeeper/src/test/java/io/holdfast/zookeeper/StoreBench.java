package io.holdfast.zookeeper;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.LossReason;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.TimeSource;
import io.holdfast.tck.RefusingExecutor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** A store with what its client would lend it, and short words for what tests ask of it. */
final class StoreBench implements AutoCloseable {

    record Lost(OwnerId owner, LossReason reason, String detail) {}

    /** Hears how a queued request ends. */
    static final class Ears implements TicketListener {
        final BlockingQueue<Grant> grants = new LinkedBlockingQueue<>();
        final BlockingQueue<String> losses = new LinkedBlockingQueue<>();

        @Override
        public void granted(Grant grant) {
            grants.add(grant);
        }

        @Override
        public void lost(String reason) {
            losses.add(reason);
        }
    }

    final BlockingQueue<Lost> losses = new LinkedBlockingQueue<>();
    final RefusingExecutor background = new RefusingExecutor(StoreBench::daemon);
    final ZooKeeperStore store;
    final Duration ttl;

    private final OwnerId.Source owners = new OwnerId.Source();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(StoreBench::daemon);

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
                background,
                (owner, reason, detail) -> losses.add(new Lost(owner, reason, detail)));
        store = (ZooKeeperStore) factory.open(context);
    }

    static StoreBench at(String uri, Duration ttl) {
        return new StoreBench(new ZooKeeperStores().store(StoreUri.parse(uri)), ttl);
    }

    Request request(String name, Demand demand) {
        return request(name, demand, ttl);
    }

    Request request(String name, Demand demand, Duration requestTtl) {
        return new Request(name, owners.next(), demand, requestTtl, new Origin("bench", "host", 1, "thread"));
    }

    Grant acquire(String name) {
        return acquire(name, Demand.exclusive());
    }

    Grant acquire(String name, Demand demand) {
        return ((Answer.Granted) store.enqueue(request(name, demand), new Ears(), soon())).grant();
    }

    Ticket queue(Request request, TicketListener ears) {
        return ((Answer.Queued) store.enqueue(request, ears, soon())).ticket();
    }

    Ticket queue(String name, TicketListener ears) {
        return queue(request(name, Demand.exclusive()), ears);
    }

    Answer attempt(String name) {
        return store.attempt(request(name, Demand.exclusive()), soon());
    }

    RenewalAnswer renew(io.holdfast.spi.Claim claim) {
        return store.renew(List.of(new RenewalRequest(claim, claim.ttl())), soon())
                .get(0);
    }

    Deadline soon() {
        return within(Duration.ofSeconds(20));
    }

    Deadline within(Duration wait) {
        return Deadline.after(TimeSource.system(), wait);
    }

    <T> Future<T> elsewhere(java.util.concurrent.Callable<T> task) {
        FutureTask<T> running = new FutureTask<>(task);
        background.execute(running);
        return running;
    }

    @Override
    public void close() {
        store.close();
        timer.shutdownNow();
        background.close();
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "bench");
        thread.setDaemon(true);
        return thread;
    }
}
