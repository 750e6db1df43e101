package io.holdfast.internal.ticket;

import io.holdfast.LockStatistics.StoreOperation;
import io.holdfast.LockView;
import io.holdfast.internal.telemetry.Telemetry;
import io.holdfast.internal.work.Lifecycle;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Tokens;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The engine's door to the store: gives every request its deadline, lets closing wait for those that may end in a grant, and
 * turns the store's tokens into users' tokens. Thread-safe.
 */
public final class StoreRequests {

    /** A walk over a store may take as long as so many slow requests; one that does not answer is noticed no later. */
    private static final int WALK_REQUESTS = 12;

    private final LockStore store;
    private final StoreTraits traits;
    private final TimeSource time;
    private final Duration timeout;
    private final Lifecycle lifecycle;
    private final Telemetry telemetry;

    public StoreRequests(LockStore store, TimeSource time, Duration timeout, Lifecycle lifecycle, Telemetry telemetry) {
        this.store = store;
        this.traits = store.traits();
        this.time = time;
        this.timeout = timeout;
        this.lifecycle = lifecycle;
        this.telemetry = telemetry;
    }

    public LockStore store() {
        return store;
    }

    public StoreTraits traits() {
        return traits;
    }

    public String server(String lockName) {
        return store.server(lockName);
    }

    /** Something begins that closing must wait for, and ends on another thread. */
    public void beginUnderWay() {
        lifecycle.begin();
    }

    public void finishUnderWay() {
        lifecycle.finish();
    }

    /**
     * Asks for a lock, by the caller's deadline or the request timeout if that is sooner. Closing must wait until its outcome is
     * dealt with: the caller has told the life cycle that it began.
     *
     * @param nowNanos for those who have just looked at the clock
     */
    public Optional<Refusal> request(KeptTicket asking, LockStore.Mode mode, Deadline callers, long nowNanos) {
        Ticket ticket = asking.ticket();
        StoreOperation operation = mode == LockStore.Mode.TRY ? StoreOperation.TRY : StoreOperation.QUEUE;
        lifecycle.requireOpen(ticket.name());
        Object begun = telemetry.requestBegins(operation);
        try {
            Optional<Refusal> answer = store.request(ticket, mode, callers.within(timeout, nowNanos));
            long answeredNanos = time.nanoTime();
            asking.startUse(answeredNanos);
            telemetry.requestEnds(operation, nowNanos, answeredNanos, begun, null);
            return answer;
        } catch (RuntimeException | Error e) {
            telemetry.requestEnds(operation, nowNanos, time.nanoTime(), begun, e);
            throw e;
        }
    }

    /** A request that hangs must leave time for another before a lease ends. */
    void renew(List<Ticket> tickets) {
        Duration limit = timeout;
        for (Ticket ticket : tickets) {
            Duration third = ticket.ttl().dividedBy(3);
            limit = third.compareTo(limit) < 0 ? third : limit;
        }
        send(StoreOperation.RENEW, deadline -> store.renew(tickets, deadline), Deadline.after(time, limit));
    }

    /** Renews one ticket now, by the caller's deadline or the request timeout if that is sooner. */
    public void renewNow(Ticket ticket, Deadline callers) {
        send(StoreOperation.RENEW, limit -> store.renew(List.of(ticket), limit), callers.within(timeout));
    }

    public void extend(Ticket ticket, Duration ttl) {
        send(StoreOperation.EXTEND, limit -> store.extend(ticket, ttl, limit), deadline());
    }

    public void downgrade(Ticket ticket, DowngradingStore downgrading) {
        send(StoreOperation.DOWNGRADE, limit -> downgrading.downgrade(ticket, limit), deadline());
    }

    /** @param nowNanos for those who have just looked at the clock */
    public ReleaseAnswer release(Ticket ticket, Duration linger, long nowNanos) {
        return release(ticket, linger, nowNanos, Deadline.after(time, nowNanos, timeout));
    }

    ReleaseAnswer release(Ticket ticket, Duration linger, long nowNanos, Deadline limit) {
        Object begun = telemetry.requestBegins(StoreOperation.RELEASE);
        try {
            ReleaseAnswer answer = store.release(ticket, linger, limit);
            telemetry.requestEnds(StoreOperation.RELEASE, nowNanos, time.nanoTime(), begun, null);
            return answer;
        } catch (RuntimeException | Error e) {
            telemetry.requestEnds(StoreOperation.RELEASE, nowNanos, time.nanoTime(), begun, e);
            throw e;
        }
    }

    Withdrawal withdraw(Ticket ticket, Deadline limit) {
        return telemetry.request(StoreOperation.WITHDRAW, () -> store.withdraw(ticket, limit));
    }

    /** Asks the server for a sign of life, for as long as the caller would wait. */
    public void ping(Duration maxWait) {
        lifecycle.requireOpen("*");
        send(StoreOperation.PING, store::ping, Deadline.after(time, maxWait));
    }

    public LockView view(String name) {
        lifecycle.requireOpen(name);
        return Tokens.ofUsers(telemetry.request(StoreOperation.VIEW, () -> store.view(name, deadline())));
    }

    public LockStore.Page views(String prefix, Optional<String> after, int limit) {
        lifecycle.requireOpen(prefix);
        LockStore.Page page =
                telemetry.request(StoreOperation.VIEW, () -> store.views(prefix, after, limit, deadline()));
        return new LockStore.Page(page.locks().stream().map(Tokens::ofUsers).toList(), page.next());
    }

    private void send(StoreOperation operation, Consumer<Deadline> request, Deadline limit) {
        telemetry.request(operation, () -> {
            request.accept(limit);
            return operation;
        });
    }

    /** The request timeout from now. */
    public Deadline deadline() {
        return Deadline.after(time, timeout);
    }

    /** For walks over all locks, which are many requests. */
    public Deadline deadlineOfWalk() {
        return Deadline.after(time, timeout.multipliedBy(WALK_REQUESTS));
    }
}
