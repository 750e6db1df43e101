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
    /** Where steps of asynchronous acquisitions run. */
    final Executor tasks;

    final LongWaits longWaits;
    final HeldLocks held = new HeldLocks();
    private final Deadline never;
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
            Executor tasks,
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
        this.never = Deadline.never(time);
    }

    /** For those who wait as long as it takes, and those who ask once: every request has its own limit. */
    public Deadline never() {
        return never;
    }

    public Deadline after(Duration wait) {
        return Deadline.after(time, wait);
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

    /** The client closes: those who wait find out. */
    public void wakeAll() {
        waiting.forEach(Acquisition::wake);
    }

    /** How many wait, be it at the gate, in the store's queue, or until they ask again. */
    public int waiting() {
        return waiting.size();
    }
}
