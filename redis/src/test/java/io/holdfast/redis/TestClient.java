package io.holdfast.redis;

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
import io.holdfast.spi.StoreUri;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One client of the store itself, without the engine: nothing is renewed or withdrawn unless a test says so. */
final class TestClient implements AutoCloseable {

    static final Duration TTL = Duration.ofSeconds(30);

    /** What a listener heard. */
    static final class Heard implements TicketListener {
        volatile @Nullable Grant grant;
        volatile @Nullable String lost;
        volatile int calls;

        @Override
        public synchronized void granted(Grant arrived) {
            grant = arrived;
            calls++;
        }

        @Override
        public synchronized void lost(String reason) {
            lost = reason;
            calls++;
        }

        boolean isGranted() {
            return grant != null;
        }
    }

    /** A request with whatever it heard. */
    record Place(Request request, Heard heard, Answer answer) {
        Claim ticket() {
            return ((Answer.Queued) answer).ticket();
        }

        boolean isQueued() {
            return answer instanceof Answer.Queued;
        }
    }

    private final OwnerId.Source owners = new OwnerId.Source();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(TestClient::daemon);
    private final ExecutorService background;
    private final TimeSource time = TimeSource.system();
    final Map<OwnerId, LossReason> losses = new ConcurrentHashMap<>();
    final RedisStore store;

    TestClient(String uri) {
        this(uri, Executors.newCachedThreadPool(TestClient::daemon));
    }

    TestClient(String uri, ExecutorService background) {
        this.background = background;
        StoreContext context = new StoreContext(
                owners.client(),
                "test",
                time,
                this::at,
                background,
                (owner, reason, detail) -> losses.put(owner, reason));
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

    Request request(String name, Demand demand, Duration ttl) {
        Origin origin = new Origin("test", "host", 42, Thread.currentThread().getName());
        return new Request(name, owners.next(), demand, ttl, origin);
    }

    Request request(String name) {
        return request(name, Demand.exclusive(), TTL);
    }

    Answer attempt(String name) {
        return store.attempt(request(name), soon());
    }

    Grant grant(String name) {
        return grant(request(name));
    }

    Grant grant(Request request) {
        return ((Answer.Granted) store.attempt(request, soon())).grant();
    }

    Place enqueue(String name) {
        return enqueue(request(name));
    }

    Place enqueue(Request request) {
        Heard heard = new Heard();
        return new Place(request, heard, store.enqueue(request, heard, soon()));
    }

    ReleaseAnswer release(Grant grant) {
        return store.release(grant, Duration.ZERO, soon());
    }

    RenewalAnswer renew(Claim claim) {
        return store.renew(List.of(new RenewalRequest(claim, claim.request().ttl())), soon())
                .get(0);
    }

    Withdrawal withdraw(Request request) {
        return store.withdraw(request, soon());
    }

    @Override
    public void close() {
        store.close();
        timer.shutdownNow();
        background.shutdownNow();
    }
}
