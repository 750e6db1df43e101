package io.holdfast.internal.acquire;

import io.holdfast.internal.ticket.KeptTicket;
import io.holdfast.spi.TimeSource;

/** What one client keeps per lock name: its gate, its re-entrant owner, and since when the store has been away. */
public final class LockSite {

    final Gate<KeptTicket> gate;
    private final ReentrantOwner reentrantOwner = new ReentrantOwner();
    final Outage outage = new Outage();

    LockSite(TimeSource time) {
        this.gate = new Gate<>(time);
    }

    /** Which threads own the lock re-entrantly. */
    public ReentrantOwner reentrantOwner() {
        return reentrantOwner;
    }
}
