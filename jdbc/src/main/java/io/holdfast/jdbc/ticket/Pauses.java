package io.holdfast.jdbc.ticket;

import io.holdfast.jdbc.row.LockSql;
import io.holdfast.jdbc.row.LockState;
import java.time.Duration;

/** How long to wait before the next look at a lock, by what the looks so far have shown. Used by one thread at a time. */
final class Pauses {

    /*
     * The first in the queue looks soon after it came, since most locks are held shortly, and then ever less often. Who is behind looks
     * the less often the more are ahead: it cannot be its turn before theirs. So a long queue costs the server hardly more than a short
     * one, also when it moves. When it has moved one begins again with short pauses.
     *
     * Nobody may look too rarely either. If those ahead are dead, their time is over all at once, and the lock is to pass on within a
     * second from then.
     */

    static final long FIRST_NANOS = Duration.ofNanos(300_000).toNanos();

    /** For the first in the queue: how late it notices that a lock held for long is free. */
    private static final long LONGEST_NANOS = Duration.ofMillis(20).toNanos();

    /** For others, times the number of those ahead. */
    private static final long LONGEST_BEHIND_NANOS = Duration.ofMillis(50).toNanos();

    /** For those furthest behind, and for a client that waits for very many locks. */
    private static final long RAREST_NANOS = Duration.ofMillis(750).toNanos();

    /** A client that waits for many locks looks a thousand times a second, not more. */
    private static final long PER_LOCK_NANOS = Duration.ofMillis(1).toNanos();

    /** So many readers ahead count as much as one that is in the way. */
    private static final int READERS = 4;

    private long pauseNanos;
    private long lastToken;
    private int lastAhead;

    /** @param locks how many locks this client waits for */
    long after(LockState state, int locks) {
        boolean moved = state.token() != lastToken || state.ahead() != lastAhead;
        lastToken = state.token();
        lastAhead = state.ahead();
        int place = 1 + Math.max(state.ahead(), state.before() / READERS);
        // How many there are beyond those counted is not known, but that they are many.
        boolean far = state.ahead() > LockSql.COUNTED_AHEAD;
        long first = FIRST_NANOS * place * (far ? 3 : 1);
        long atPlace = place == 1 ? LONGEST_NANOS : LONGEST_BEHIND_NANOS * place;
        long longest = Math.min(Math.max(atPlace, PER_LOCK_NANOS * locks), RAREST_NANOS);
        pauseNanos = Math.min(moved ? first : Math.max(first, pauseNanos * 3 / 2), longest);
        return pauseNanos;
    }
}
