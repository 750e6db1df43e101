package io.holdfast.internal.lease;

import io.holdfast.LockOptions;
import io.holdfast.internal.telemetry.Telemetry;
import io.holdfast.internal.ticket.HandoffLimits;
import io.holdfast.internal.ticket.KeptTicket;
import io.holdfast.internal.ticket.StoreRequests;
import io.holdfast.internal.work.Callbacks;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * Makes the leases of one client, and has what they use. Thread-safe.
 *
 * @param time the client's clock
 * @param requests to release, extend and downgrade
 * @param validity how long to ask for
 * @param handoff how often a grant may be handed on
 * @param callbacks where users hear of losses
 * @param tasks where releaseAsync asks the store about the lock of that name
 * @param leaks notices leases that were never closed
 */
public record Leases(
        TimeSource time,
        StoreRequests requests,
        Validity validity,
        HandoffLimits handoff,
        Callbacks callbacks,
        Function<String, Executor> tasks,
        LeakWatch leaks) {

    /**
     * A lease on a ticket that is held. If that ended a moment ago, the lease is lost.
     *
     * @param thread which thread of the user's asked for it, for people
     * @param story where its end is told
     * @param nowNanos when it begins
     */
    public HeldLease open(
            KeptTicket ticket,
            InsideGate inside,
            LockOptions options,
            String thread,
            Telemetry.Story story,
            long nowNanos) {
        LeaseLife life = new LeaseLife(this, ticket, inside, options, thread, story, nowNanos);
        HeldLease lease = life.newHandle();
        life.beginUse();
        return lease;
    }
}
