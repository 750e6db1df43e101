package io.holdfast.zookeeper;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/** From which moment on the ensemble's leader surely counts one session's timeout. Thread-safe. */
final class Touches {

    /*
     * What a lease may be based on
     * ----------------------------
     * The leader alone expires sessions. It counts a session's timeout from the last touch it heard of, rounded up to a
     * tick. It hears of touches in three ways:
     *
     *   1. A client of the leader itself, or of a standalone server: every request touches at once.
     *   2. A client of a follower: each request is noted by the follower, and the notes travel with the follower's
     *      answer to the leader's ping, every half tick. Not with the requests themselves, not even with writes.
     *   3. A client that (re)connects anywhere: its session is validated by the leader, which touches it there and then.
     *
     * So a read answered by a follower proves nothing: a follower cut off from its leader goes on answering reads for
     * syncLimit ticks, while the leader expires the session. And an answered write proves less than one would think: it
     * was committed by a quorum after it was sent, so the link between follower and leader worked then, and the leader
     * was no deposed one. But if the link breaks just after, the touch of that very write never arrives, and the leader
     * counts from the one before: a third of the session timeout earlier, if touches are as rare as renewals are.
     *
     * Hence two kinds of requests. Pulses, cheap reads every quarter of a tick, touch often. Writes (a create, or the
     * renewal's write that changes nothing) prove: once one sent at w is answered, every pulse of the same connection sent
     * by w - tick/2 has reached the leader, because a ping has passed on the same ordered link between the two. With
     * pulses a quarter of a tick apart that is one sent after w - 3/4 tick. The lease's margin is one tick (see
     * StoreTraits), so counting from w is sound with a quarter of a tick to spare. When pulses came late (a pause, a busy
     * machine) the base moves back by as much: base = min(w, last such pulse + 3/4 tick).
     *
     * A new connection starts anew, for pulses answered by the old server may not have been passed on; but connecting was
     * itself a touch at the leader (3), at or after the moment the attempt began.
     *
     * What this rests on: servers whose tick is no longer than the one configured here, clocks of servers and client that
     * run at the same rate within 1 % (the rest of the margin), and a leader that sends its pings every half tick. A leader
     * that was paused may answer a write before it sends the ping that is due: then the quarter to spare, and the rounding
     * up to a tick, must outlast the milliseconds until that ping is answered.
     */

    private final long tickNanos;
    private final Deque<Long> pulses = new ArrayDeque<>();
    private boolean connectedDirectly;
    private long directNanos;
    private boolean known;
    private long baseNanos;

    Touches(Duration tick) {
        this.tickNanos = tick.toNanos();
    }

    /** The session was opened or validated by the leader, by an attempt that began then. */
    synchronized void connected(long attemptNanos) {
        pulses.clear();
        connectedDirectly = true;
        directNanos = attemptNanos;
    }

    /** What was noted by the server of the former connection may never reach the leader. */
    synchronized void disconnected() {
        pulses.clear();
        connectedDirectly = false;
    }

    /** A pulse sent then was answered. Pulses are answered in the order they were sent. */
    synchronized void pulsed(long sentNanos) {
        pulses.addLast(sentNanos);
        // Of those that any later write proves, the latest is enough.
        Iterator<Long> latestFirst = pulses.descendingIterator();
        while (latestFirst.hasNext()) {
            long pulse = latestFirst.next();
            if (sentNanos - pulse >= tickNanos / 2) {
                dropPulsesBefore(pulse);
                break;
            }
        }
    }

    /** A write sent then was answered, so a quorum has committed it. */
    synchronized void committed(long sentNanos) {
        Iterator<Long> latestFirst = pulses.descendingIterator();
        while (latestFirst.hasNext()) {
            long pulse = latestFirst.next();
            if (sentNanos - pulse >= tickNanos / 2) {
                raise(sentNanos, pulse + tickNanos / 4 * 3);
                dropPulsesBefore(pulse);
                break;
            }
        }
        if (connectedDirectly) {
            raise(sentNanos, directNanos + tickNanos / 4 * 3);
        }
    }

    /** Whether anything was proven yet. */
    synchronized boolean isKnown() {
        return known;
    }

    /** The session lives at least its timeout from then on. */
    synchronized long baseNanos() {
        if (!known) {
            throw new IllegalStateException("no write was answered on this session yet");
        }
        return baseNanos;
    }

    private void raise(long sentNanos, long provenNanos) {
        long candidate = sentNanos - provenNanos < 0 ? sentNanos : provenNanos;
        if (!known || candidate - baseNanos > 0) {
            known = true;
            baseNanos = candidate;
        }
    }

    private void dropPulsesBefore(long pulse) {
        while (!pulses.isEmpty() && pulses.peekFirst() - pulse < 0) {
            pulses.removeFirst();
        }
    }
}
