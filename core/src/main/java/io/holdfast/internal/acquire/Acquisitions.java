package io.holdfast.internal.acquire;

import io.holdfast.LockView.Waiter;
import io.holdfast.internal.lease.Leases;
import io.holdfast.internal.telemetry.Telemetry;
import io.holdfast.internal.ticket.StoreRequests;
import io.holdfast.internal.ticket.Tickets;
import io.holdfast.internal.work.Callbacks;
import io.holdfast.internal.work.Lifecycle;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext.Timer;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** The acquisitions of one client: makes them, has what they use, and knows those that wait. Thread-safe. */
public final class Acquisitions {

    final TimeSource time;
    final Timer timer;
    final Lifecycle lifecycle;
    final StoreRequests requests;
    final Tickets tickets;
    final Leases leases;
    final Telemetry telemetry;
    final Callbacks callbacks;
    /** Where steps of asynchronous acquisitions run, by the name of the lock. */
    final Function<String, Executor> tasks;

    final LongWaits longWaits;
    final HeldLocks held = new HeldLocks();
    private final Patience oneTry;
    private final Patience endless;
    private final Set<Acquisition> waiting = ConcurrentHashMap.newKeySet();

    public Acquisitions(
            TimeSource time,
            Timer timer,
            Lifecycle lifecycle,
            StoreRequests requests,
            Tickets tickets,
            Leases leases,
            Telemetry telemetry,
            Callbacks callbacks,
            Function<String, Executor> tasks,
            LongWaits longWaits) {
        this.time = time;
        this.timer = timer;
        this.lifecycle = lifecycle;
        this.requests = requests;
        this.tickets = tickets;
        this.leases = leases;
        this.telemetry = telemetry;
        this.callbacks = callbacks;
        this.tasks = tasks;
        this.longWaits = longWaits;
        this.oneTry = new Patience(Patience.Limit.ONE_TRY, Deadline.never(time));
        this.endless = new Patience(Patience.Limit.NONE, Deadline.never(time));
    }

    public Patience oneTry() {
        return oneTry;
    }

    public Patience endless() {
        return endless;
    }

    /** For that long; with no time at all it asks once. */
    public Patience upTo(Duration maxWait) {
        return maxWait.isNegative() || maxWait.isZero()
                ? oneTry
                : new Patience(Patience.Limit.DEADLINE, Deadline.after(time, maxWait));
    }

    public Timer timer() {
        return timer;
    }

    void startWaiting(Acquisition acquisition) {
        waiting.add(acquisition);
    }

    void stopWaiting(Acquisition acquisition) {
        waiting.remove(acquisition);
    }

    /** This client's threads and futures that wait for that lock. */
    List<Waiter> waitersFor(String lockName) {
        return waiting.stream()
                .filter(acquisition -> acquisition.terms().name().equals(lockName))
                .map(Acquisition::asWaiter)
                .toList();
    }

    /** The client closes: wakes all acquisitions, which then fail. */
    public void wakeAll() {
        waiting.forEach(Acquisition::close);
    }

    /** How many wait, be it at the gate, in the store's queue, or until they ask again. */
    public int waiting() {
        return waiting.size();
    }
}
