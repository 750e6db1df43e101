package io.holdfast.internal;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TicketListener;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition's place in a store's line. Hears how it ends, from the store's push, from a heartbeat, or from its own
 * deadline, keeps the first of these and wakes the acquisition. Thread-safe.
 */
final class QueuePlace implements TicketListener, Kept {

    /** What is known of the place. */
    sealed interface News {}

    enum Quiet implements News {
        /** Nothing yet. */
        WAITING,
        /** Nobody listens any more: a grant that still comes goes back at once. */
        DEAF
    }

    record Arrived(Grant grant) implements News {}

    record PlaceLost(String reason) implements News {}

    private final Client client;
    private final Request request;
    private final Runnable wake;
    private final AtomicReference<News> news = Plainly.holding(Quiet.WAITING);
    private final AtomicBoolean requestUnderWay = new AtomicBoolean();
    private volatile @Nullable RenewalRequest heartbeat;
    private volatile long dueNanos;
    private volatile long endNanos;

    QueuePlace(Client client, Request request, Runnable wake) {
        this.client = client;
        this.request = request;
        this.wake = wake;
    }

    /** The store has confirmed the place: from now on it is kept by heartbeats. */
    void confirmed(Ticket ticket) {
        heartbeat = new RenewalRequest(ticket, ticket.ttl());
        reckon(ticket.baseNanos(), ticket.ttl());
    }

    News news() {
        return news.get();
    }

    Request request() {
        return request;
    }

    /** Stops listening. Returns what was known until then. */
    News stopListening() {
        return news.getAndSet(Quiet.DEAF);
    }

    @Override
    public void granted(Grant grant) {
        if (news.compareAndSet(Quiet.WAITING, new Arrived(grant))) {
            wake.run();
        } else {
            client.errands().release(grant);
        }
    }

    @Override
    public void lost(String reason) {
        if (news.compareAndSet(Quiet.WAITING, new PlaceLost(reason))) {
            wake.run();
        }
    }

    @Override
    public OwnerId owner() {
        return request.owner();
    }

    @Override
    public String lane() {
        return client.store().lane(request.name());
    }

    @Override
    public long dueNanos() {
        return dueNanos;
    }

    @Override
    public long endNanos() {
        return endNanos;
    }

    @Override
    public long slackNanos() {
        return request.ttl().toNanos() / 30;
    }

    @Override
    public boolean beginRequest() {
        return requestUnderWay.compareAndSet(false, true);
    }

    @Override
    public void finishRequest() {
        requestUnderWay.set(false);
    }

    @Override
    public RenewalRequest renewalRequest() {
        return Objects.requireNonNull(heartbeat, "a place is kept only once the store has confirmed it");
    }

    @Override
    public void extended(RenewalAnswer.Extended answer) {
        reckon(answer.baseNanos(), answer.ttl());
    }

    @Override
    public void failing(LockException cause) {
        dueNanos = client.time().nanoTime() + slackNanos();
    }

    @Override
    public boolean gone(LossReason reason, String detail) {
        lost(detail);
        return !(news.get() instanceof Arrived);
    }

    @Override
    public void ended() {
        lost("no heartbeat was answered within its ttl");
    }

    private void reckon(long baseNanos, Duration ttl) {
        endNanos = client.validity().endNanos(baseNanos, ttl);
        dueNanos = client.renewalDue(baseNanos, ttl);
    }
}
