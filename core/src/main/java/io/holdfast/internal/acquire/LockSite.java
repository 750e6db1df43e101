package io.holdfast.internal.acquire;

import io.holdfast.internal.ticket.KeptTicket;
import io.holdfast.spi.TimeSource;

/** What one client keeps per lock name: its gate, since when the store has been away, and what is being removed from its queue. */
public final class LockSite {

    final Gate<KeptTicket> gate;
    final Outage outage = new Outage();
    final Withdrawals withdrawals = new Withdrawals();

    LockSite(TimeSource time) {
        this.gate = new Gate<>(time);
    }
}
