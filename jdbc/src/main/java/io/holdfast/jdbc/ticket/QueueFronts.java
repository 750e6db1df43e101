package io.holdfast.jdbc.ticket;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;

/** Where the queues of busy locks begin, as far as this client's own tickets tell that were served. Thread-safe. */
final class QueueFronts {

    /*
     * A ticket is served when none is ahead of it, so all that wait have larger numbers. Looks need not pass what earlier tickets have
     * left: on MySQL and MariaDB rows deleted in the last tenths of a second cost a look as much as those that are there, and on a
     * busy lock these are hundreds. A ticket with a smaller number may have been on its way to the table, so only what was so a while
     * ago is believed. One that takes still longer competes with those it should have been ahead of.
     */

    private static final long BELIEVED_AFTER_NANOS = Duration.ofMillis(50).toNanos();

    /** For how long a lock is believed to be busy because it was. */
    private static final long BUSY_NANOS = Duration.ofMillis(20).toNanos();

    private static final int MOST = 1_000;

    private final ConcurrentHashMap<String, Front> fronts = new ConcurrentHashMap<>();

    /**
     * @param number of a ticket that was served not long ago
     * @param servedNanos when
     * @param front of one that was served long enough before it
     * @param busyNanos when a ticket was last served that had found others ahead of it
     */
    private record Front(long number, long servedNanos, long front, long busyNanos) {

        Front served(long next, boolean busy, long now) {
            long busyAt = busy ? now : now - BUSY_NANOS;
            return now - servedNanos < BELIEVED_AFTER_NANOS
                    ? new Front(number, servedNanos, front, busyAt)
                    : new Front(next, now, number, busyAt);
        }
    }

    /** @param busy whether others were ahead of it when it came */
    void served(String name, long number, boolean busy, long now) {
        if (fronts.size() >= MOST) {
            fronts.clear();
        }
        // Far enough back to be followed by this one.
        Front unknown = new Front(0, now - BELIEVED_AFTER_NANOS, 0, now);
        fronts.compute(name, (same, known) -> (known == null ? unknown : known).served(number, busy, now));
    }

    /** Nobody waits whose number is smaller. */
    long of(String name) {
        Front known = fronts.get(name);
        return known == null ? 0 : known.front;
    }

    /** Whether somebody waits for it, most probably. */
    boolean isBusy(String name, long now) {
        Front known = fronts.get(name);
        return known != null && now - known.busyNanos < BUSY_NANOS;
    }
}
