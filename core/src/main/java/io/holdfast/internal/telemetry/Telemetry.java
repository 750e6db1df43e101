package io.holdfast.internal.telemetry;

import io.holdfast.Demand;
import io.holdfast.Holdfast;
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
import io.holdfast.spi.TimeSource;
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
 * <p>Without observers, listeners and recording an acquisition costs a few counters and makes no object.
 */
public final class Telemetry {

    private static final Logger LOG = System.getLogger(Telemetry.class.getName());

    private final Statistics statistics = new Statistics();
    private final List<LockObserver> observers;
    private final Events events;
    private final Callbacks callbacks;
    private final TimeSource time;
    private final AtomicLong lastId = new AtomicLong();
    private final Story counted = new Story();

    public Telemetry(List<LockObserver> observers, List<LockListener> listeners, Callbacks callbacks, TimeSource time) {
        this.observers = observers;
        this.events = new Events(listeners, callbacks);
        this.callbacks = callbacks;
        this.time = time;
    }

    public LockStatistics statistics(int waiting, double leastShareLeft) {
        return statistics.snapshot(waiting, leastShareLeft);
    }

    public void connected(Holdfast client) {
        tell(observer -> observer.connected(client));
    }

    public void closed(Holdfast client) {
        tell(observer -> observer.closed(client));
    }

    /** What is told of one acquisition and its lease. Not thread-safe until the lease is there; then its ends exclude each other. */
    public Story begin(String lock, Demand demand) {
        boolean heard = !observers.isEmpty() || events.areHeard() || FlightRecording.isOn();
        return heard ? new HeardStory(lock, demand) : counted;
    }

    /** Sends a request, and tells how long it took and how it went. */
    public <T extends @Nullable Object> T request(StoreOperation operation, Supplier<T> request) {
        long startNanos = time.nanoTime();
        Object flight = requestBegins(operation);
        try {
            T answer = request.get();
            requestEnds(operation, startNanos, time.nanoTime(), flight, null);
            return answer;
        } catch (RuntimeException | Error e) {
            requestEnds(operation, startNanos, time.nanoTime(), flight, e);
            throw e;
        }
    }

    /** For requests of which there are many, and which must not make an object each. The result is for {@link #requestEnds}. */
    public @Nullable Object requestBegins(StoreOperation operation) {
        return FlightRecording.beginRequest(operation);
    }

    /**
     * @param begun what {@link #requestBegins} returned
     * @param failure what it threw, or null if it was answered
     */
    public void requestEnds(
            StoreOperation operation,
            long startNanos,
            long endNanos,
            @Nullable Object begun,
            @Nullable Throwable failure) {
        long tookNanos = endNanos - startNanos;
        statistics.request(operation, tookNanos, failure == null);
        if (begun != null) {
            FlightRecording.endRequest(
                    begun, failure == null ? "ANSWERED" : failure.getClass().getSimpleName());
        }
        if (!observers.isEmpty()) {
            tell(observer -> observer.requested(operation, Duration.ofNanos(tookNanos), failure));
        }
    }

    private void tell(Consumer<LockObserver> what) {
        for (LockObserver observer : observers) {
            try {
                what.accept(observer);
            } catch (Throwable e) { // also a checked one: Kotlin and Lombok throw them undeclared
                LOG.log(Level.ERROR, "An observer failed", e);
                if (e instanceof InterruptedException) {
                    Thread.currentThread().interrupt(); // mostly the user's thread, which must still hear of it
                }
            }
        }
    }

    private Duration since(long nanos) {
        return Duration.ofNanos(time.nanoTime() - nanos);
    }

    /** One acquisition, and the lease it got. This one only counts and has no state: one object serves all acquisitions without observers, listeners and recording. */
    public sealed class Story {

        private Story() {}

        public void started() {}

        public void acquired(Way way, long token, long startedNanos) {
            (way == Way.GRANTED ? statistics.granted : statistics.handedOver).increment();
        }

        public void unsuccessful(Outcome outcome, String detail, long startedNanos) {
            statistics.unsuccessful.get(outcome).increment();
        }

        public void released(long token, ReleaseResult result, long grantedNanos) {
            statistics.released.increment();
        }

        /** Another lease goes on in its place, which is told as one of its own. */
        public void succeeded() {}

        /** A lease that goes on in the place of another. */
        public Story successor(Demand other, long token) {
            return this;
        }

        /** @param wasHeld whether this is what ended the lease, and not a release under way that found it lost */
        public void lost(Loss loss, long grantedNanos, boolean wasHeld) {
            if (wasHeld) {
                statistics.endedByLoss.increment();
            }
            statistics.lost.get(loss.reason()).increment();
            FlightRecording.lost(loss);
        }

        public void renewed(String lock, long token, Duration validFor) {
            statistics.renewed.increment();
            FlightRecording.renewal(lock, "RENEWED", validFor);
        }

        public void renewalFailed(String lock, long token, Duration stillValidFor, LockException cause) {
            statistics.renewalsFailed.increment();
            FlightRecording.renewal(lock, "FAILED", stillValidFor);
        }
    }

    /** One with observers, listeners or a recording. */
    private final class HeardStory extends Story {

        private final String lock;
        private final Demand demand;
        private LockObserver.@Nullable Acquisition acquisition; // only if there are observers
        private @Nullable Object flight;
        private boolean ended; // whether listeners have heard of its end; used where events are delivered only

        private HeardStory(String lock, Demand demand) {
            this.lock = lock;
            this.demand = demand;
        }

        @Override
        public void started() {
            flight = FlightRecording.beginAcquire(lock, demand);
            if (!observers.isEmpty()) {
                LockObserver.Acquisition begun = new LockObserver.Acquisition(lastId.incrementAndGet(), lock, demand);
                acquisition = begun;
                tell(observer -> observer.started(begun));
            }
            events.publish(() -> new LockEvent.Requested(lock, demand));
        }

        @Override
        public void acquired(Way way, long token, long startedNanos) {
            super.acquired(way, token, startedNanos);
            Duration waited = since(startedNanos);
            FlightRecording.endAcquire(flight, way.name(), token);
            flight = FlightRecording.beginHold(lock, token);
            tellOf(begun -> tell(observer -> observer.acquired(begun, way, token, waited)));
            events.publish(() -> way == Way.GRANTED
                    ? new LockEvent.Granted(lock, token, waited)
                    : new LockEvent.HandedOver(lock, token, waited));
        }

        @Override
        public void unsuccessful(Outcome outcome, String detail, long startedNanos) {
            super.unsuccessful(outcome, detail, startedNanos);
            Duration waited = since(startedNanos);
            FlightRecording.endAcquire(flight, outcome.name(), 0);
            tellOf(begun -> tell(observer -> observer.unsuccessful(begun, outcome, waited)));
            events.publish(() -> new LockEvent.Unsuccessful(lock, outcome, detail, waited));
        }

        @Override
        public void released(long token, ReleaseResult result, long grantedNanos) {
            super.released(token, result, grantedNanos);
            Duration held = since(grantedNanos);
            FlightRecording.endHold(flight, result.name());
            tellOf(begun -> tell(observer -> observer.released(begun, token, result, held)));
            events.publish(() -> last(new LockEvent.Released(lock, token, result, held)));
        }

        @Override
        public void succeeded() {
            FlightRecording.endHold(flight, "DOWNGRADED");
        }

        @Override
        public Story successor(Demand other, long token) {
            HeardStory next = new HeardStory(lock, other);
            next.acquisition = acquisition;
            next.flight = FlightRecording.beginHold(lock, token);
            return next;
        }

        @Override
        public void lost(Loss loss, long grantedNanos, boolean wasHeld) {
            super.lost(loss, grantedNanos, wasHeld);
            Duration held = since(grantedNanos);
            if (wasHeld) {
                FlightRecording.endHold(flight, "LOST");
            }
            tellOf(begun -> callbacks.tellLoss(told -> tell(observer -> observer.lost(begun, told, held)), loss));
            events.publish(() -> last(new LockEvent.Lost(lock, loss.token(), loss)));
        }

        @Override
        public void renewed(String name, long token, Duration validFor) {
            super.renewed(name, token, validFor);
            tellOf(begun -> tell(observer -> observer.renewed(begun)));
            events.publish(() -> ended ? null : new LockEvent.Renewed(lock, token, validFor));
        }

        @Override
        public void renewalFailed(String name, long token, Duration stillValidFor, LockException cause) {
            super.renewalFailed(name, token, stillValidFor, cause);
            tellOf(begun -> tell(observer -> observer.renewalFailed(begun, stillValidFor, cause)));
            events.publish(() -> ended ? null : new LockEvent.RenewalFailing(lock, token, stillValidFor, cause));
        }

        /** Answers to renewals may come beside the end; what is delivered after it would say that the lease goes on. */
        private LockEvent last(LockEvent event) {
            ended = true;
            return event;
        }

        private void tellOf(Consumer<LockObserver.Acquisition> what) {
            LockObserver.Acquisition begun = acquisition;
            if (begun != null) {
                what.accept(begun);
            }
        }
    }
}
