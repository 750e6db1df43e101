package io.holdfast.spi;

import io.holdfast.Demand;
import io.holdfast.Waiting;
import java.time.Duration;

/**
 * What a store promises, so that what it cannot do is refused up front. Immutable.
 *
 * @param store its name for people, without credentials
 * @param queues whether it keeps waiting tickets in order and tells them when it is their turn; else waiting is polling
 * @param shared whether {@link Demand.Shared} is supported
 * @param permits whether {@link Demand.Permits} is supported
 * @param lingers whether a released lock can stay taken for a while
 * @param minTtl the shortest ttl it can keep
 * @param maxTtl the longest
 * @param minMargin by how much a lease must end locally before the store may pass it on, at least
 * @param poll how to poll it by default, where waiting is polling
 */
public record StoreTraits(
        String store,
        boolean queues,
        boolean shared,
        boolean permits,
        boolean lingers,
        Duration minTtl,
        Duration maxTtl,
        Duration minMargin,
        Waiting.Poll poll) {

    /** All demands, a queue, any ttl from 10 ms to a year. */
    public static StoreTraits of(String store) {
        return new StoreTraits(
                store,
                true,
                true,
                true,
                true,
                Duration.ofMillis(10),
                Duration.ofDays(365),
                Duration.ZERO,
                Waiting.poll());
    }

    public StoreTraits withDemands(boolean newShared, boolean newPermits) {
        return new StoreTraits(store, queues, newShared, newPermits, lingers, minTtl, maxTtl, minMargin, poll);
    }

    public StoreTraits withoutQueue() {
        return new StoreTraits(store, false, shared, permits, lingers, minTtl, maxTtl, minMargin, poll);
    }

    public StoreTraits withoutLinger() {
        return new StoreTraits(store, queues, shared, permits, false, minTtl, maxTtl, minMargin, poll);
    }

    public StoreTraits withTtls(Duration shortest, Duration longest) {
        return new StoreTraits(store, queues, shared, permits, lingers, shortest, longest, minMargin, poll);
    }

    public StoreTraits withMinMargin(Duration margin) {
        return new StoreTraits(store, queues, shared, permits, lingers, minTtl, maxTtl, margin, poll);
    }

    public StoreTraits withPoll(Waiting.Poll newPoll) {
        return new StoreTraits(store, queues, shared, permits, lingers, minTtl, maxTtl, minMargin, newPoll);
    }

    public boolean supports(Demand demand) {
        if (demand instanceof Demand.Shared) {
            return shared;
        }
        return !(demand instanceof Demand.Permits) || permits;
    }
}
