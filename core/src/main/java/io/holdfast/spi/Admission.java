package io.holdfast.spi;

import io.holdfast.Demand;

/**
 * The rule who may hold a lock: walk the tickets in order and admit while compatible.
 *
 * <p>Exclusive: only the first. Shared: the leading run of shared ones. Permits: while the sum so far stays within the
 * smallest total so far. Whoever is not admitted ends the walk, so nobody is overtaken. One instance is one walk; not
 * thread-safe.
 */
public final class Admission {

    private enum Walk {
        EMPTY,
        SHARED,
        PERMITS,
        ENDED
    }

    private Walk walk = Walk.EMPTY;
    private long taken;
    private int smallestTotal = Integer.MAX_VALUE;

    /** Whether the next ticket in the queue is admitted beside all before it. */
    public boolean admit(Demand next) {
        if (next instanceof Demand.Permits permits) {
            return admitPermits(permits);
        }
        Walk then = next instanceof Demand.Shared ? Walk.SHARED : Walk.ENDED;
        boolean admitted = walk == Walk.EMPTY || (walk == Walk.SHARED && then == Walk.SHARED);
        walk = admitted ? then : Walk.ENDED;
        return admitted;
    }

    private boolean admitPermits(Demand.Permits permits) {
        taken += permits.count();
        smallestTotal = Math.min(smallestTotal, permits.total());
        boolean admitted = (walk == Walk.EMPTY || walk == Walk.PERMITS) && taken <= smallestTotal;
        walk = admitted ? Walk.PERMITS : Walk.ENDED;
        return admitted;
    }
}
