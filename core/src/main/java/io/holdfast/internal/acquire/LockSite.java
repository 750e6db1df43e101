package io.holdfast.internal.acquire;

import io.holdfast.internal.ticket.KeptTicket;
import io.holdfast.spi.TimeSource;
import org.jspecify.annotations.Nullable;

/** What one client keeps per lock name: its gate, the thread that holds it, and since when the store has been away. */
public final class LockSite {

    final Gate<KeptTicket> gate;
    private volatile @Nullable Caller exclusiveHolder;
    final Outage outage = new Outage();

    LockSite(TimeSource time) {
        this.gate = new Gate<>(time);
    }

    /** The thread whose exclusive lease on it this is, as far as this client knows. */
    @Nullable
    Caller exclusiveHolder() {
        return exclusiveHolder;
    }

    void heldBy(Caller caller) {
        exclusiveHolder = caller;
    }

    void heldNoMoreBy(Caller caller) {
        if (exclusiveHolder == caller) {
            exclusiveHolder = null;
        }
    }
}
