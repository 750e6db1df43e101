package io.holdfast.torture.check;

import io.holdfast.Demand;
import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Operation;
import org.jspecify.annotations.Nullable;

/** One request as the store answered it: its place in line, its grant, its extensions. Grows while a history is read. */
final class Claim {

    private final Rules rules;
    private long deadlineNanos = Long.MIN_VALUE;
    private long timelyDeadlineNanos = Long.MIN_VALUE;
    private long heardNanos = Long.MIN_VALUE;
    private long sentNanos = Long.MAX_VALUE;
    private @Nullable Event queued;
    private @Nullable Event granted;

    Claim(Rules rules) {
        this.rules = rules;
    }

    void add(Event event) {
        switch (event.operation()) {
            case QUEUED -> queued = event;
            case UNQUEUED -> queued = null;
            case GRANTED -> granted = event;
            default -> {}
        }
        Long sent = event.sentNanos();
        Long ttl = event.ttlNanos();
        if (sent != null && ttl != null) {
            long deadline = rules.deadlineNanos(sent, ttl);
            deadlineNanos = Math.max(deadlineNanos, deadline);
            if (event.operation() != Operation.RENEWED || event.nanos() <= timelyDeadlineNanos) {
                timelyDeadlineNanos = Math.max(timelyDeadlineNanos, deadline);
            }
            heardNanos = Math.max(heardNanos, sent);
            sentNanos = Math.min(sentNanos, sent);
        }
    }

    /** Until when the store must have kept it. */
    long deadlineNanos() {
        return deadlineNanos;
    }

    /** The same without extensions of which the client heard too late to count with them: it has given the lease up by then. */
    long timelyDeadlineNanos() {
        return timelyDeadlineNanos;
    }

    /** When the request was sent, or earlier. */
    long sentNanos() {
        return sentNanos;
    }

    /** When the last request was sent to which the store answered that it is still there. */
    long heardNanos() {
        return heardNanos;
    }

    /** The event that it stood in line, if it did and never lost its place. */
    @Nullable
    Event queued() {
        return queued;
    }

    @Nullable
    Event granted() {
        return granted;
    }

    Demand demand() {
        Event known = granted != null ? granted : queued;
        Demand demand = known == null ? null : known.demand();
        return demand == null ? Demand.exclusive() : demand;
    }

    /** A request that waits is later than every token. */
    long token() {
        Event known = granted;
        Long token = known == null ? null : known.token();
        return token == null ? Long.MAX_VALUE : token;
    }
}
