package io.holdfast.etcd;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.LossReason;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Withdrawal;
import io.holdfast.tck.RefusingExecutor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** A store with a bare client around it: what the engine would ask, asked by hand. */
final class TestClient implements AutoCloseable {

    static final Duration TTL = Duration.ofSeconds(10);

    final OwnerId.Source owners = new OwnerId.Source();
    final Map<OwnerId, LossReason> losses = new ConcurrentHashMap<>();
    final RefusingExecutor background = new RefusingExecutor(TestClient::daemon);
    final EtcdStore store;

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(TestClient::daemon);

    TestClient(StoreFactory factory) {
        StoreContext.Timer alarms = (nanos, task) -> {
            Future<?> future = timer.schedule(task, nanos - System.nanoTime(), TimeUnit.NANOSECONDS);
            return () -> future.cancel(false);
        };
        store = (EtcdStore) factory.open(new StoreContext(
                owners.client(),
                "test",
                TimeSource.system(),
                alarms,
                background,
                (owner, reason, detail) -> losses.put(owner, reason)));
    }

    static TestClient of(String uri) {
        return new TestClient(new EtcdStores().store(StoreUri.parse(uri)));
    }

    Request request(String name, Demand demand, Duration ttl) {
        return new Request(name, owners.next(), demand, ttl, new Origin("test", "here", 1, "main"));
    }

    Request request(String name) {
        return request(name, Demand.exclusive(), TTL);
    }

    static Deadline soon() {
        return Deadline.after(TimeSource.system(), Duration.ofSeconds(10));
    }

    Answer attempt(Request request) {
        return store.attempt(request, soon());
    }

    Answer attempt(String name) {
        return attempt(request(name));
    }

    /** Takes a lock that is free. */
    Grant grant(String name) {
        return grant(request(name));
    }

    Grant grant(Request request) {
        Waiter waiter = enqueue(request);
        return waiter.arrived();
    }

    Waiter enqueue(String name) {
        return enqueue(request(name));
    }

    Waiter enqueue(Request request) {
        Waiter waiter = new Waiter(request);
        Answer answer = store.enqueue(request, waiter, soon());
        if (answer instanceof Answer.Granted granted) {
            waiter.granted(granted.grant());
        } else if (answer instanceof Answer.Queued queued) {
            waiter.ticket = queued.ticket();
        }
        return waiter;
    }

    ReleaseAnswer release(Grant grant) {
        return store.release(grant, Duration.ZERO, soon());
    }

    RenewalAnswer renew(Claim claim) {
        return store.renew(List.of(new RenewalRequest(claim, claim.ttl())), soon())
                .get(0);
    }

    Withdrawal withdraw(Request request) {
        return store.withdraw(request, soon());
    }

    @Override
    public void close() {
        store.close();
        timer.shutdownNow();
        background.close();
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "test-client");
        thread.setDaemon(true);
        return thread;
    }

    /** Somebody in line. */
    static final class Waiter implements TicketListener {

        final Request request;
        final CompletableFuture<Grant> grant = new CompletableFuture<>();
        final CompletableFuture<String> loss = new CompletableFuture<>();
        volatile Ticket ticket;

        Waiter(Request request) {
            this.request = request;
            this.ticket = new Ticket(request, request.ttl(), 0);
        }

        @Override
        public void granted(Grant newGrant) {
            grant.complete(newGrant);
        }

        @Override
        public void lost(String reason) {
            loss.complete(reason);
        }

        boolean isGranted() {
            return grant.isDone();
        }

        Grant arrived() {
            return grant.orTimeout(20, TimeUnit.SECONDS).join();
        }

        String heardOfLoss() {
            return loss.orTimeout(20, TimeUnit.SECONDS).join();
        }
    }
}
