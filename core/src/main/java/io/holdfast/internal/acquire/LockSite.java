package io.holdfast.internal.acquire;

import io.holdfast.internal.ticket.KeptTicket;
import io.holdfast.spi.TimeSource;

/** What one client keeps per lock name: its gate, and since when the store has been away. */
public final class LockSite {

    final Gate<KeptTicket> gate;
    final Outage outage = new Outage();

    LockSite(TimeSource time) {
        this.gate = new Gate<>(time);
    }
}
