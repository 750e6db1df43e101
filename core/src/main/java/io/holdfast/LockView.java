package io.holdfast;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A lock as its store saw it at one moment: for people and dashboards, not for deciding who holds it. Immutable.
 *
 * @param name the lock
 * @param holders who holds it, in order of their grants
 * @param waiters who waits, first in line first; empty on stores without a queue
 */
public record LockView(String name, List<Holder> holders, List<Waiter> waiters) {

    public LockView {
        holders = List.copyOf(holders);
        waiters = List.copyOf(waiters);
    }

    public static LockView free(String name) {
        return new LockView(name, List.of(), List.of());
    }

    public boolean isHeld() {
        return !holders.isEmpty();
    }

    /**
     * Where a request came from: metadata for people, never part of ownership.
     *
     * @param client the name of the Holdfast instance
     * @param host the machine
     * @param pid the process
     * @param thread the thread that asked
     */
    public record Origin(String client, String host, long pid, String thread) {
        @Override
        public String toString() {
            return client + " (" + host + ", pid " + pid + ", thread " + thread + ")";
        }
    }

    /**
     * A holder. A foreign one, say another library's key of the same name, has no origin.
     *
     * @param origin who
     * @param demand what is held
     * @param token the token of the grant's first lease, since local handoffs add to it without telling the store; empty for a
     *     foreign holder
     * @param since when it was granted, by the store's clock
     * @param timeLeft until it expires unless renewed; empty if it does not expire
     */
    public record Holder(
            Optional<Origin> origin,
            Demand demand,
            Optional<Long> token,
            Optional<Instant> since,
            Optional<Duration> timeLeft) {}

    /**
     * A waiter.
     *
     * @param origin who
     * @param demand what is asked for
     * @param since when it queued, by the store's clock
     */
    public record Waiter(Optional<Origin> origin, Demand demand, Optional<Instant> since) {}
}
