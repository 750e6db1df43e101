package io.holdfast.internal;

import io.holdfast.spi.TimeSource;

/** What one client keeps per lock name: its gate, and the thread that owns the lock re-entrantly. */
final class LockSite {

    final Gate<Holding> gate;
    final ReentrantOwner reentrantOwner = new ReentrantOwner();

    LockSite(TimeSource time) {
        this.gate = new Gate<>(time);
    }
}
