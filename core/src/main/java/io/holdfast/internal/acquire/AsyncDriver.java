package io.holdfast.internal.acquire;

import io.holdfast.LockEvent.Outcome;
import io.holdfast.internal.lease.HeldLease;
import io.holdfast.spi.StoreContext.Alarm;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Drives an acquisition in short steps on the client's own threads; between them nothing but an alarm remembers it. As a
 * future it completes with the lease, in the caller's form of it; if the user completes or cancels it, it leaves the queue.
 */
public final class AsyncDriver<T> extends CompletableFuture<T> implements Runnable {

    private final Acquisitions shared;
    private final Acquisition acquisition;
    private final Function<@Nullable HeldLease, T> form;
    private final AtomicInteger wakes = new AtomicInteger();
    /** Held, and on its way to the future: the thread that takes it out of here delivers or releases it. */
    private final AtomicReference<@Nullable HeldLease> undelivered = new AtomicReference<>();

    private final Wakeable wakeable;
    private @Nullable Alarm alarm;
    private volatile boolean over; // its outcome is on the way to the future: a late wake must not make another

    private AsyncDriver(
            Acquisitions acquisitions, LockTerms terms, Patience patience, Function<@Nullable HeldLease, T> form) {
        this.shared = acquisitions;
        this.form = form;
        Wakeable wakeable = new Wakeable(this);
        this.wakeable = wakeable;
        this.acquisition = new Acquisition(acquisitions, terms, patience, Caller.future(wakeable));
    }

    public static <T> CompletableFuture<T> acquire(
            Acquisitions acquisitions, LockTerms terms, Patience patience, Function<@Nullable HeldLease, T> form) {
        AsyncDriver<T> driver = new AsyncDriver<>(acquisitions, terms, patience, form);
        driver.whenComplete((outcome, failure) -> driver.endIfUnwanted());
        driver.acquisition.begin();
        driver.wake();
        return driver;
    }

    /** The user cancelled or completed the future: the lease is not wanted any more. */
    private void endIfUnwanted() {
        if (!over || undelivered.get() != null) {
            wake();
        }
    }

    /** One step at a time: wakes during a step make it run once more. */
    @Override
    public void run() {
        int missed = 1;
        do {
            step();
            missed = wakes.addAndGet(-missed);
        } while (missed != 0);
    }

    private void wake() {
        if (wakes.getAndIncrement() == 0) {
            try {
                shared.tasks.apply(acquisition.terms().name()).execute(this);
            } catch (RejectedExecutionException e) {
                acquisition.abandon(Outcome.CLOSED, "the client is closed");
                completeExceptionally(
                        shared.lifecycle.closed(acquisition.terms().name()));
            }
        }
    }

    private void step() {
        if (alarm != null) {
            alarm.cancel();
            alarm = null;
        }
        if (isDone() || over) {
            acquisition.abandon(Outcome.CANCELLED, "nobody waits for the future any more");
            releaseIfUnwanted();
            return;
        }
        shared.lifecycle.begin();
        try {
            if (acquisition.advance()) {
                HeldLease lease = acquisition.takeLease();
                undelivered.set(lease);
                over = true;
                wakeable.forget();
                // User code hangs on this future: it runs among the callbacks and never keeps other futures waiting.
                shared.callbacks.complete(this::deliver, lease);
            } else {
                alarm = shared.timer.at(acquisition.wakeAtNanos(), this::wake);
            }
        } catch (RuntimeException | Error e) {
            over = true;
            try {
                // It may wait by now, and without an alarm its wait would not end.
                acquisition.abandon(Outcome.FAILED, String.valueOf(e.getMessage()));
            } finally {
                shared.callbacks.complete(this::completeExceptionally, e);
            }
        } finally {
            shared.lifecycle.finish();
        }
    }

    /** Callbacks may be busy for long; a lease that is not wanted does not wait for them to be released. */
    private void releaseIfUnwanted() {
        HeldLease lease = isDone() ? undelivered.getAndSet(null) : null;
        if (lease != null) {
            lease.life().releaseUndelivered();
        }
    }

    private void deliver(@Nullable HeldLease lease) {
        if (!undelivered.compareAndSet(lease, null)) {
            return;
        }
        boolean delivered = false;
        try {
            // The form may tell others of the lease, so it is made only while the future is wanted.
            delivered = !isDone() && complete(form.apply(lease));
        } catch (RuntimeException | Error e) {
            completeExceptionally(e);
        }
        if (!delivered && lease != null) {
            lease.life().releaseUndelivered();
        }
    }

    /**
     * What wakes the driver until it is over. The lease refers to its acquisition, and through that to this: were it the driver
     * itself, which has the lease as its result, a lease that its user has forgotten could never be noticed.
     */
    private static final class Wakeable implements Runnable {

        private volatile @Nullable AsyncDriver<?> driver;

        Wakeable(AsyncDriver<?> driver) {
            this.driver = driver;
        }

        void forget() {
            driver = null;
        }

        @Override
        public void run() {
            AsyncDriver<?> waiting = driver;
            if (waiting != null) {
                waiting.wake();
            }
        }
    }
}
