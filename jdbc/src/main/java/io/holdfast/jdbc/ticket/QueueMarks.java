package io.holdfast.jdbc.ticket;

import io.holdfast.jdbc.row.LockState;
import io.holdfast.jdbc.row.Requests.Exchange;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;

/** Marks locks as queued for, and remembers which are. Thread-safe. */
public final class QueueMarks {

    /** Beyond what a ticket lasts: the longer, the more rarely marks are set, and the later a lock is as quick again as before. */
    private static final Duration LONGER = Duration.ofSeconds(10);

    private static final int MOST = 10_000;

    private final TimeSource time;

    /** When marks end, or a little earlier. */
    private final ConcurrentHashMap<String, Long> endNanos = new ConcurrentHashMap<>();

    QueueMarks(TimeSource time) {
        this.time = time;
    }

    /** Whether a lock has a row that is marked, so that whoever wants it must ask whether others wait. */
    public boolean isMarked(String name) {
        Long end = endNanos.get(name);
        if (end != null && end - time.nanoTime() <= 0) {
            endNanos.remove(name, end);
            return false;
        }
        return end != null;
    }

    /** @param baseNanos when it was looked at, or a little earlier */
    public void learn(String name, LockState seen, long baseNanos) {
        remember(name, seen.queuedFor(), baseNanos);
    }

    /** Before a ticket is added, and while it waits: the mark lasts no shorter than the ticket. */
    public void mark(Ticket ticket, Exchange exchange) {
        String name = ticket.name();
        long baseNanos = time.nanoTime();
        Long end = endNanos.get(name);
        if (end == null || end - baseNanos < ticket.ttl().toNanos()) {
            Duration duration = ticket.ttl().plus(LONGER);
            exchange.run((session, sql) -> sql.markQueued(session, name, duration));
            remember(name, duration, baseNanos);
        }
    }

    private void remember(String name, Duration left, long baseNanos) {
        if (left.isZero()) {
            endNanos.remove(name);
            return;
        }
        if (endNanos.size() >= MOST) {
            endNanos.clear();
        }
        endNanos.put(name, baseNanos + left.toNanos());
    }
}
