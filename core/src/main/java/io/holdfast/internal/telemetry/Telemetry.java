package io.holdfast.internal.telemetry;

import io.holdfast.Demand;
import io.holdfast.LockEvent;
import io.holdfast.LockEvent.Outcome;
import io.holdfast.LockException;
import io.holdfast.LockListener;
import io.holdfast.LockStatistics;
import io.holdfast.LockStatistics.StoreOperation;
import io.holdfast.Loss;
import io.holdfast.ReleaseResult;
import io.holdfast.internal.work.Callbacks;
import io.holdfast.spi.LockObserver;
import io.holdfast.spi.LockObserver.Way;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells the counters, the observers, the listeners and the flight recorder what happens. Thread-safe.
 *
 * <p>With nobody listening an acquisition costs a few counters and makes no object.
 */
public final class Telemetry {

    private static final Logger LOG = System.getLogger(Telemetry.class.getName());

    private final Statistics statistics = new Statistics();
    private final List<LockObserver> observers;
    private final Events events;
    private final Callbacks callbacks;
    private final AtomicLong lastId = new AtomicLong();

    public Telemetry(List<LockObserver> observers, List<LockListener> listeners, Callbacks callbacks) {
        this.observers = observers;
        this.events = new Events(listeners, callbacks);
        this.callbacks = callbacks;
    }

    public LockStatistics statistics() {
        return statistics.snapshot();
    }

    /** What is told of one acquisition and its lease. Not thread-safe until the lease is there; then its ends exclude each other. */
    public Story begin(String lock, Demand demand) {
        return new Story(lock, demand);
    }

    /** Sends a request, and tells how long it took and how it went. */
    public <T extends @Nullable Object> T request(StoreOperation operation, Supplier<T> request) {
        long startNanos = System.nanoTime();
        Object flight = FlightRecording.beginRequest(operation);
        Throwable failure = null;
        try {
            return request.get();
        } catch (RuntimeException | Error e) {
            failure = e;
            throw e;
        } finally {
            long tookNanos = System.nanoTime() - startNanos;
            statistics.request(operation, tookNanos, failure == null);
            FlightRecording.endRequest(
                    flight, failure == null ? "ANSWERED" : failure.getClass().getSimpleName());
            if (!observers.isEmpty()) {
                Throwable failed = failure;
                tell(observer -> observer.requested(operation, Duration.ofNanos(tookNanos), failed));
            }
        }
    }

    private void tell(Consumer<LockObserver> what) {
        for (LockObserver observer : observers) {
            try {
                what.accept(observer);
            } catch (RuntimeException | Error e) {
                LOG.log(Level.ERROR, "An observer failed", e);
            }
        }
    }

    /** One acquisition, and the lease it got. */
    public final class Story {

        private final String lock;
        private final Demand demand;
        private LockObserver.@Nullable Acquisition acquisition; // only if there are observers
        private @Nullable Object flight;

        private Story(String lock, Demand demand) {
            this.lock = lock;
            this.demand = demand;
        }

        public void started() {
            statistics.waiting.increment();
            flight = FlightRecording.beginAcquire(lock, demand);
            if (!observers.isEmpty()) {
                LockObserver.Acquisition begun = new LockObserver.Acquisition(lastId.incrementAndGet(), lock, demand);
                acquisition = begun;
                tell(observer -> observer.started(begun));
            }
            events.publish(() -> new LockEvent.Requested(lock, demand));
        }

        public void acquired(Way way, long token, long waitedNanos) {
            statistics.waiting.decrement();
            statistics.held.increment();
            (way == Way.GRANTED ? statistics.granted : statistics.handedOver).increment();
            FlightRecording.endAcquire(flight, way.name(), token);
            flight = FlightRecording.beginHold(lock, token);
            tellOf(begun -> tell(observer -> observer.acquired(begun, way, token, Duration.ofNanos(waitedNanos))));
            events.publish(() -> way == Way.GRANTED
                    ? new LockEvent.Granted(lock, token, Duration.ofNanos(waitedNanos))
                    : new LockEvent.HandedOver(lock, token, Duration.ofNanos(waitedNanos)));
        }

        public void unsuccessful(Outcome outcome, String detail, long waitedNanos) {
            statistics.waiting.decrement();
            statistics.unsuccessful.get(outcome).increment();
            FlightRecording.endAcquire(flight, outcome.name(), 0);
            tellOf(begun -> tell(observer -> observer.unsuccessful(begun, outcome, Duration.ofNanos(waitedNanos))));
            events.publish(() -> new LockEvent.Unsuccessful(lock, outcome, detail, Duration.ofNanos(waitedNanos)));
        }

        public void released(long token, ReleaseResult result, long heldNanos) {
            statistics.held.decrement();
            statistics.released.increment();
            FlightRecording.endHold(flight, result.name());
            tellOf(begun -> tell(observer -> observer.released(begun, token, result, Duration.ofNanos(heldNanos))));
            events.publish(() -> new LockEvent.Released(lock, token, result, Duration.ofNanos(heldNanos)));
        }

        /** Another lease goes on in its place, which is told as one of its own. */
        public void succeeded() {
            statistics.held.decrement();
            FlightRecording.endHold(flight, "DOWNGRADED");
        }

        /** A lease that goes on in the place of another. */
        public Story successor(Demand other, long token) {
            Story next = new Story(lock, other);
            next.acquisition = acquisition;
            statistics.held.increment();
            next.flight = FlightRecording.beginHold(lock, token);
            return next;
        }

        /** @param wasHeld whether this is what ended the lease, and not a release under way that found it lost */
        public void lost(Loss loss, long heldNanos, boolean wasHeld) {
            if (wasHeld) {
                statistics.held.decrement();
                FlightRecording.endHold(flight, "LOST");
            }
            statistics.lost.get(loss.reason()).increment();
            FlightRecording.lost(loss);
            tellOf(begun -> callbacks.tellLoss(
                    told -> tell(observer -> observer.lost(begun, told, Duration.ofNanos(heldNanos))), loss));
            events.publish(() -> new LockEvent.Lost(lock, loss.token(), loss));
        }

        public void renewed(long token, Duration validFor) {
            statistics.renewed.increment();
            FlightRecording.renewal(lock, "RENEWED", validFor);
            tellOf(begun -> tell(observer -> observer.renewed(begun)));
            events.publish(() -> new LockEvent.Renewed(lock, token, validFor));
        }

        public void renewalFailed(long token, Duration stillValidFor, LockException cause) {
            statistics.renewalsFailed.increment();
            FlightRecording.renewal(lock, "FAILED", stillValidFor);
            tellOf(begun -> tell(observer -> observer.renewalFailed(begun, stillValidFor, cause)));
            events.publish(() -> new LockEvent.RenewalFailing(lock, token, stillValidFor, cause));
        }

        private void tellOf(Consumer<LockObserver.Acquisition> what) {
            LockObserver.Acquisition begun = acquisition;
            if (begun != null) {
                what.accept(begun);
            }
        }
    }
}
