package io.holdfast.jdbc.ticket;

import io.holdfast.jdbc.row.LockSql;
import io.holdfast.jdbc.row.LockState;
import java.time.Duration;

/** How long to wait before the next look at a lock, by what the looks so far have shown. Used by one thread at a time. */
final class Pauses {

    /*
     * The first in the queue looks soon after it came, since most locks are held shortly, and then ever less often. Who is behind looks
     * the less often the more are ahead: it cannot be its turn before theirs. When the queue has moved one begins again with short pauses.
     *
     * Most locks are held for about as long each time, so there is no look before that time is over, nor before half of those ahead may
     * have had theirs; then looks begin with short pauses. What counts as usual is for how long the holder was still seen to have it, by
     * whoever was next. If it was gone at the first look after that, nobody knows for how long already, so next time the looks begin
     * earlier: otherwise it would be found late for ever, because it was found late once. It grows by a quarter at most, so where holds
     * are now long and now short, the short ones count. A holder that takes longer than usual makes the looks of all rarer again.
     *
     * Behind the first few that would still be too often in a crowd: a server kept busy by looks lets nobody in. Those look when half of
     * the others ahead may have had their turn, judged by how fast the queue moved between the last two looks; so however many wait, a
     * turn costs the server a few looks and not one of everybody's. It is half, since whoever looks too late slows the queue down for
     * all behind it, and they would take that for its pace. How long it stood still before says nothing about its pace.
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
    static final long RAREST_NANOS = Duration.ofMillis(750).toNanos();

    /** A client that waits for many locks looks a thousand times a second, not more. */
    private static final long PER_LOCK_NANOS = Duration.ofMillis(1).toNanos();

    /** So many readers ahead count as much as one that is in the way. */
    private static final int READERS = 4;

    /** So many look by their place alone: where few wait, the queue's pace is too rough a guess. */
    private static final int CLOSE = 16;

    /** Without what was added because the lock is usually held for longer. */
    private long pauseNanos;

    private long paceNanos;
    private boolean wasMoving;
    private long lastNanos;
    private long lastToken;
    private int lastAhead;

    /** For so long holders still had the lock when they were seen last. */
    private long usualNanos;

    /** How much of that the present holder was seen to have it, by who was next. */
    private long seenNanos;

    private boolean isWaitingForUsual;
    private long nextNanos;

    /**
     * @param locks how many locks this client waits for
     * @param nowNanos when the look was over
     */
    long after(LockState state, int locks, long nowNanos) {
        boolean moved = state.token() != lastToken || state.ahead() != lastAhead;
        learnPace(moved, lastAhead - state.ahead(), nowNanos - lastNanos);
        if (moved && lastAhead == 0) {
            learnHold(nowNanos);
        }
        wasMoving = moved;
        lastNanos = nowNanos;
        lastToken = state.token();
        lastAhead = state.ahead();
        long heldNanos = state.heldFor().toNanos();
        seenNanos = state.ahead() == 0 ? heldNanos : 0;
        int place = 1 + Math.max(state.ahead(), state.before() / READERS);
        long first = Math.max(FIRST_NANOS * place, paceNanos / 2 * (state.ahead() - CLOSE));
        long atPlace = place == 1 ? LONGEST_NANOS : LONGEST_BEHIND_NANOS * place;
        long longest = Math.min(Math.max(atPlace, PER_LOCK_NANOS * locks), RAREST_NANOS);
        // How many there are beyond those counted is not known, but that all who were counted come first.
        boolean far = state.ahead() > LockSql.COUNTED_AHEAD;
        long guess = heldNanos == 0 ? 0 : Math.max(0, usualNanos - heldNanos) + usualNanos * state.ahead() / 2;
        // Who is wrong is late by no more than that, wherever it stands.
        long usualLeft = Math.min(guess, LONGEST_NANOS);
        isWaitingForUsual = usualLeft > first && heldNanos < usualNanos;
        pauseNanos = moved || isWaitingForUsual ? first : Math.max(first, pauseNanos * 3 / 2);
        long pause = far ? longest : Math.min(Math.max(pauseNanos, usualLeft), longest);
        pauseNanos = Math.min(pauseNanos, longest);
        nextNanos = nowNanos + pause;
        return pause;
    }

    /** The one who looked was let in. */
    void granted(long nowNanos) {
        learnHold(nowNanos);
        wasMoving = false;
    }

    private void learnHold(long nowNanos) {
        // Who was woken earlier does not know for how much longer it would have been held.
        boolean isKnown = (seenNanos > 0 || isWaitingForUsual) && nowNanos - nextNanos >= 0;
        if (isKnown) {
            usualNanos = seenNanos < usualNanos
                    ? (seenNanos + usualNanos) / 2
                    : Math.min(seenNanos, Math.max(FIRST_NANOS, usualNanos * 5 / 4));
        }
        seenNanos = 0;
        isWaitingForUsual = false;
    }

    private void learnPace(boolean moved, int turns, long nanos) {
        if (moved && wasMoving && turns > 0) {
            paceNanos = nanos / turns;
        } else if (!moved) {
            paceNanos = 0;
        }
    }
}
