package io.holdfast.internal.telemetry;

import io.holdfast.Demand;
import io.holdfast.LockStatistics.StoreOperation;
import io.holdfast.Loss;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Writes to the flight recorder, if the JDK has one and somebody records. Nothing is made otherwise. Events that take a while are
 * begun and ended by whoever they are about, who keeps what {@code begin…} returned meanwhile.
 */
final class FlightRecording {

    private static final boolean PRESENT =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightRecording() {}

    /** Whether somebody records acquisitions or holds. */
    static boolean isOn() {
        return PRESENT && (FlightEvents.ACQUIRE.isEnabled() || FlightEvents.HOLD.isEnabled());
    }

    static @Nullable Object beginAcquire(String lock, Demand demand) {
        if (!PRESENT || !FlightEvents.ACQUIRE.isEnabled()) {
            return null;
        }
        FlightEvents.Acquire event = new FlightEvents.Acquire();
        event.lock = lock;
        event.demand = demand.toString();
        event.begin();
        return event;
    }

    static void endAcquire(@Nullable Object begun, String outcome, long token) {
        if (begun instanceof FlightEvents.Acquire event) {
            event.outcome = outcome;
            event.token = token;
            event.commit();
        }
    }

    static @Nullable Object beginHold(String lock, long token) {
        if (!PRESENT || !FlightEvents.HOLD.isEnabled()) {
            return null;
        }
        FlightEvents.HoldLock event = new FlightEvents.HoldLock();
        event.lock = lock;
        event.token = token;
        event.begin();
        return event;
    }

    static void endHold(@Nullable Object begun, String outcome) {
        if (begun instanceof FlightEvents.HoldLock event) {
            event.outcome = outcome;
            event.commit();
        }
    }

    static void renewal(String lock, String outcome, Duration validFor) {
        if (PRESENT && FlightEvents.RENEWAL.isEnabled()) {
            FlightEvents.Renewal event = new FlightEvents.Renewal();
            event.lock = lock;
            event.outcome = outcome;
            event.validFor = validFor.toNanos();
            event.commit();
        }
    }

    static void lost(Loss loss) {
        if (PRESENT && FlightEvents.LOST.isEnabled()) {
            FlightEvents.Lost event = new FlightEvents.Lost();
            event.lock = loss.name();
            event.token = loss.token();
            event.reason = loss.reason().name();
            event.commit();
        }
    }

    static @Nullable Object beginRequest(StoreOperation operation) {
        if (!PRESENT || !FlightEvents.STORE_REQUEST.isEnabled()) {
            return null;
        }
        FlightEvents.StoreRequest event = new FlightEvents.StoreRequest();
        event.operation = operation.name();
        event.begin();
        return event;
    }

    static void endRequest(@Nullable Object begun, String outcome) {
        if (begun instanceof FlightEvents.StoreRequest event) {
            event.outcome = outcome;
            event.commit();
        }
    }
}
