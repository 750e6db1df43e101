package io.holdfast.internal.telemetry;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

/** The events of the flight recorder. Used only where the JDK has one: see {@link FlightRecording}. */
final class FlightEvents {

    static final EventType ACQUIRE = EventType.getEventType(Acquire.class);
    static final EventType HOLD = EventType.getEventType(HoldLock.class);
    static final EventType RENEWAL = EventType.getEventType(Renewal.class);
    static final EventType LOST = EventType.getEventType(Lost.class);
    static final EventType STORE_REQUEST = EventType.getEventType(StoreRequest.class);

    private FlightEvents() {}

    @Name("io.holdfast.Acquire")
    @Label("Acquire Lock")
    @Description("An acquisition, from its start to its lease or its end without one")
    @Category("Holdfast")
    @Threshold("10 ms")
    @SuppressWarnings("serial")
    static final class Acquire extends Event {
        @Label("Lock")
        String lock = "";

        @Label("Demand")
        String demand = "";

        @Label("Outcome")
        String outcome = "";

        @Label("Token")
        long token;
    }

    @Name("io.holdfast.Hold")
    @Label("Hold Lock")
    @Description("A lease, from its grant to its release or loss")
    @Category("Holdfast")
    @Threshold("10 ms")
    static final class HoldLock extends Event {
        @Label("Lock")
        String lock = "";

        @Label("Token")
        long token;

        @Label("Outcome")
        String outcome = "";
    }

    @Name("io.holdfast.Renewal")
    @Label("Renewal")
    @Description("A renewal of a lease that the store confirmed, or that failed")
    @Category("Holdfast")
    @StackTrace(false)
    static final class Renewal extends Event {
        @Label("Lock")
        String lock = "";

        @Label("Outcome")
        String outcome = "";

        @Label("Valid For")
        @Timespan(Timespan.NANOSECONDS)
        long validFor;
    }

    @Name("io.holdfast.Lost")
    @Label("Lease Lost")
    @Category("Holdfast")
    @StackTrace(false)
    static final class Lost extends Event {
        @Label("Lock")
        String lock = "";

        @Label("Token")
        long token;

        @Label("Reason")
        String reason = "";
    }

    @Name("io.holdfast.StoreRequest")
    @Label("Store Request")
    @Description("A request to the store")
    @Category("Holdfast")
    @Threshold("10 ms")
    static final class StoreRequest extends Event {
        @Label("Operation")
        String operation = "";

        @Label("Outcome")
        String outcome = "";
    }
}
