package io.holdfast.torture.check;

import java.time.Duration;
import java.util.Optional;

/**
 * What a run was promised. Immutable.
 *
 * @param drift by which share of a ttl the clocks of store and client may differ
 * @param slack how much sooner than the ttl a client may end a lease by itself, beyond the drift
 * @param order how waiters were promised to be served
 * @param progressWithin how long after the last fault a lock that is waited for may stay unserved: ttl, failover and the
 *     longest hold of those ahead; empty if nothing is promised
 */
public record Rules(double drift, Duration slack, Order order, Optional<Duration> progressWithin) {

    /** How waiters are served. */
    public enum Order {
        ARRIVAL,
        ANY
    }

    /** The margins of the engine: 1 % of the ttl and 2 ms; no order, no progress. */
    public static Rules standard() {
        return new Rules(0.01, Duration.ofMillis(2), Order.ANY, Optional.empty());
    }

    /** For stores that need a wider margin, such as a tick of ZooKeeper. */
    public Rules withSlack(Duration margin) {
        return new Rules(drift, margin, order, progressWithin);
    }

    public Rules withOrder(Order promised) {
        return new Rules(drift, slack, promised, progressWithin);
    }

    public Rules withProgress(Duration within) {
        return new Rules(drift, slack, order, Optional.of(within));
    }

    /** When a lease that was last extended by a request sent then may end, at the earliest. */
    long deadlineNanos(long sentNanos, long ttlNanos) {
        return sentNanos + ttlNanos - (long) (ttlNanos * drift) - slack.toNanos();
    }
}
