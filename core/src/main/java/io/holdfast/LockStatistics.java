package io.holdfast;

import java.time.Duration;
import java.util.Map;

/**
 * What a client has done since it was connected, and what it is at now. Counters lose no event. Immutable.
 *
 * @param waiting acquisitions that wait now: for another thread of this client, in the store's queue, or until they ask again
 * @param held leases held now
 * @param granted leases the store granted
 * @param handedOver leases handed on from another thread of this client, with no trip to the store
 * @param unsuccessful acquisitions that ended without a lease, by how
 * @param released leases given back
 * @param lost leases lost, by why
 * @param renewed renewals of leases that the store confirmed
 * @param renewalsFailed renewals of leases that failed and were tried again
 * @param requests requests to the store, by what they were for
 * @param leastShareLeft how much of its ttl the lease has left that is nearest to its end: between 0 and 1, and 1 if none is held.
 *     Below a half, renewals fail
 */
public record LockStatistics(
        long waiting,
        long held,
        long granted,
        long handedOver,
        Map<LockEvent.Outcome, Long> unsuccessful,
        long released,
        Map<LossReason, Long> lost,
        long renewed,
        long renewalsFailed,
        Map<StoreOperation, Requests> requests,
        double leastShareLeft) {

    public LockStatistics {
        unsuccessful = Map.copyOf(unsuccessful);
        lost = Map.copyOf(lost);
        requests = Map.copyOf(requests);
    }

    /**
     * Requests of one kind.
     *
     * @param answered how many were answered
     * @param failed how many failed, or whose outcome is unknown
     * @param total the time all of them took together
     */
    public record Requests(long answered, long failed, Duration total) {}

    /** What a request to the store is for. */
    public enum StoreOperation {
        /** To get a lock now or not at all. */
        TRY,
        /** To get a lock or a place in its queue. */
        QUEUE,
        /** To keep leases and places in queues. */
        RENEW,
        /** To keep one lease for longer. */
        EXTEND,
        RELEASE,
        /** To leave a queue, or to undo a request whose outcome is unknown. */
        WITHDRAW,
        DOWNGRADE,
        /** To look at locks. */
        VIEW,
        PING
    }
}
