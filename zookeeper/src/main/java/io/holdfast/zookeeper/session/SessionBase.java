package io.holdfast.zookeeper.session;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Optional;

/** From which moment on the ensemble's leader surely counts one session's timeout. Thread-safe. */
final class SessionBase {

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
     * Hence two kinds of requests. Probes, cheap reads every fifth of a tick, touch often. Writes (a create, or the
     * renewal's write that changes nothing) prove: once one sent at w is answered, every probe of the same connection
     * answered by w - tick/2 has reached the leader, because a ping has passed on the same ordered link between the two.
     * Answered, not sent: to a follower that was stopped, probes and the write may come in one burst, with no ping between.
     * With probes a fifth of a tick apart such a one was sent after w - 7/10 tick, less a round trip. The lease's margin is
     * one tick (see StoreTraits), so counting from that probe + 3/4 tick is sound with a quarter of a tick to spare: base =
     * min(w, last such probe + 3/4 tick). That is w unless round trips, and the lateness of probes, exceed a twentieth of a
     * tick (a pause, a busy machine): then it moves back by as much.
     *
     * A new connection starts anew, for probes answered by the old server may not have been passed on; but connecting was
     * itself a touch at the leader (3), at or after the moment the attempt began.
     *
     * What this rests on: servers whose tick is no longer than the one configured here, clocks of servers and client that
     * run at the same rate within 1 % (the rest of the margin), and a leader that sends its pings every half tick. A leader
     * that was paused may answer a write before it sends the ping that is due: then the quarter to spare, and the rounding
     * up to a tick, must outlast the milliseconds until that ping is answered.
     */

    private record Probe(long sentNanos, long answeredNanos) {}

    private final long tickNanos;
    private final Deque<Probe> probes = new ArrayDeque<>();
    private boolean connectedDirectly;
    private long directNanos;
    private boolean known;
    private long baseNanos;

    SessionBase(Duration tick) {
        this.tickNanos = tick.toNanos();
    }

    /** The session was opened or validated by the leader, by an attempt that began then. */
    synchronized void connected(long attemptNanos) {
        probes.clear();
        connectedDirectly = true;
        directNanos = attemptNanos;
    }

    /** What was noted by the server of the former connection may never reach the leader. */
    synchronized void disconnected() {
        probes.clear();
        connectedDirectly = false;
    }

    /** A probe was answered. Requests are answered in the order they were sent. */
    synchronized void probed(long sentNanos, long answeredNanos) {
        probes.addLast(new Probe(sentNanos, answeredNanos));
        // Writes answered from now on were sent later than this probe.
        latestProvenBy(sentNanos);
    }

    /** A write sent then was answered, so a quorum has committed it. */
    synchronized void committed(long sentNanos) {
        latestProvenBy(sentNanos).ifPresent(probe -> raise(sentNanos, probe.sentNanos() + tickNanos / 4 * 3));
        if (connectedDirectly) {
            raise(sentNanos, directNanos + tickNanos / 4 * 3);
        }
    }

    /** The latest probe that a write sent then proves. Earlier ones are dropped: later writes prove it too. */
    private Optional<Probe> latestProvenBy(long writeNanos) {
        Iterator<Probe> latestFirst = probes.descendingIterator();
        while (latestFirst.hasNext()) {
            Probe probe = latestFirst.next();
            if (writeNanos - probe.answeredNanos() >= tickNanos / 2) {
                while (probes.getFirst() != probe) {
                    probes.removeFirst();
                }
                return Optional.of(probe);
            }
        }
        return Optional.empty();
    }

    /** Whether anything was proven yet. */
    synchronized boolean isKnown() {
        return known;
    }

    /** The session lives at least its timeout from then on. */
    synchronized long nanos() {
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
}
