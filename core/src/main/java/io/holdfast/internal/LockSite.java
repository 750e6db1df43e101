package io.holdfast.internal;

import io.holdfast.spi.TimeSource;

/** What one client keeps per lock name: its gate, its re-entrant owner, and since when the store has been away. */
final class LockSite {

    final Gate<Holding> gate;
    final ReentrantOwner reentrantOwner = new ReentrantOwner();
    final Outage outage = new Outage();

    LockSite(TimeSource time) {
        this.gate = new Gate<>(time);
    }
}
