package io.holdfast.file;

import io.holdfast.Demand;
import io.holdfast.LockView;
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
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.TimeSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;

/** A client of a file store without the engine: nothing is renewed unless a test says so. */
final class StoreClient implements AutoCloseable {

    static final Duration TTL = Duration.ofSeconds(60);

    final FileStore store;
    final BlockingQueue<String> grantOrder = new LinkedBlockingQueue<>();
    final Map<OwnerId, LossReason> losses = new ConcurrentHashMap<>();

    private final OwnerId.Source owners = new OwnerId.Source();
    private final String name;

    StoreClient(Path directory) {
        this(directory, "test");
    }

    StoreClient(Path directory, String name) {
        this.name = name;
        StoreContext context = new StoreContext(
                owners.client(),
                name,
                TimeSource.system(),
                (nanos, task) -> {
                    throw new UnsupportedOperationException("the file store needs no timer");
                },
                Runnable::run,
                (owner, reason, detail) -> losses.put(owner, reason));
        this.store = (FileStore) FileStore.in(directory).open(context);
    }

    /** A queued request and how it ended. */
    record Queued(Request request, Ticket ticket, CompletableFuture<Grant> outcome) {}

    Request request(String lock, Demand demand, Duration ttl) {
        Origin origin = new Origin(
                name,
                "here",
                ProcessHandle.current().pid(),
                Thread.currentThread().getName());
        return new Request(lock, owners.next(), demand, ttl, origin);
    }

    Answer attempt(String lock) {
        return attempt(lock, Demand.exclusive(), TTL);
    }

    Answer attempt(String lock, Demand demand, Duration ttl) {
        return store.attempt(request(lock, demand, ttl), soon());
    }

    Grant take(String lock) {
        return take(lock, Demand.exclusive(), TTL);
    }

    Grant take(String lock, Demand demand, Duration ttl) {
        Answer answer = attempt(lock, demand, ttl);
        if (answer instanceof Answer.Granted granted) {
            return granted.grant();
        }
        throw new AssertionError("expected a grant of " + lock + " but got " + answer);
    }

    Queued queue(String lock) {
        return queue(lock, Demand.exclusive(), TTL);
    }

    /** Must wait, or the test fails. */
    Queued queue(String lock, Demand demand, Duration ttl) {
        Request request = request(lock, demand, ttl);
        CompletableFuture<Grant> outcome = new CompletableFuture<>();
        Answer answer = store.enqueue(request, listener(request, outcome), soon());
        if (answer instanceof Answer.Queued queued) {
            return new Queued(request, queued.ticket(), outcome);
        }
        throw new AssertionError("expected a place in line for " + lock + " but got " + answer);
    }

    /** The grant now or later. */
    CompletableFuture<Grant> want(String lock, Duration ttl) {
        Request request = request(lock, Demand.exclusive(), ttl);
        CompletableFuture<Grant> outcome = new CompletableFuture<>();
        Answer answer = store.enqueue(request, listener(request, outcome), soon());
        if (answer instanceof Answer.Granted granted) {
            outcome.complete(granted.grant());
        }
        return outcome;
    }

    private TicketListener listener(Request request, CompletableFuture<Grant> outcome) {
        return new TicketListener() {
            @Override
            public void granted(Grant grant) {
                grantOrder.add(request.owner().toString());
                outcome.complete(grant);
            }

            @Override
            public void lost(String reason) {
                outcome.completeExceptionally(new IllegalStateException(reason));
            }
        };
    }

    RenewalAnswer renew(Grant grant) {
        return store.renew(List.of(new RenewalRequest(grant, grant.ttl())), soon())
                .get(0);
    }

    Object release(Grant grant) {
        return store.release(grant, Duration.ZERO, soon());
    }

    LockView view(String lock) {
        return store.view(lock, soon());
    }

    static Deadline soon() {
        return Deadline.after(TimeSource.system(), Duration.ofSeconds(20));
    }

    @Override
    public void close() {
        store.close();
    }
}
