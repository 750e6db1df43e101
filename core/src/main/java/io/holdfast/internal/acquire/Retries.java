package io.holdfast.internal.acquire;

import io.holdfast.Waiting;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.HintingStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * When an acquisition that was not granted asks again: after a refusal at the pace of its polling, after a lost ticket, after
 * trouble with the store; sooner if the store gives a hint. Used by the one who drives the acquisition; hints come from any thread.
 */
final class Retries {

    private static final Logger LOG = System.getLogger(Acquisition.class.getName());

    /** While the store is away it is asked this often at least, however long the ttl. */
    private static final long LONGEST_OUTAGE_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

    /** A store may want to be asked often for a moment, as by the first in its queue; oftener than this is spinning. */
    private static final long SHORTEST_PAUSE_NANOS = 200_000;

    private final LockTerms terms;
    private final Waiting.Poll pace;
    private final TimeSource time;
    private double pauseNanos;
    private int refusals;
    private int lostTickets;
    private long endNanos;
    private HintingStore.@Nullable Hints hints;
    private volatile boolean hinted;

    /** @param storesPace how often to ask if the options do not say */
    Retries(LockTerms terms, Waiting.Poll storesPace, TimeSource time) {
        this.terms = terms;
        this.pace = terms.poll() != null ? terms.poll() : storesPace;
        this.time = time;
        this.pauseNanos = Deadline.nanosOf(pace.delay());
    }

    /** To be called before the first request, else a release between the refusal and this would give no hint. */
    void listen(HintingStore store, Runnable wake) {
        if (hints == null) {
            hints = store.listen(terms.name(), terms.demand(), () -> {
                hinted = true;
                wake.run();
            });
        }
    }

    void stopListening() {
        HintingStore.Hints listening = hints;
        if (listening == null) {
            return;
        }
        hints = null;
        try {
            listening.close();
        } catch (RuntimeException | Error e) {
            LOG.log(Level.WARNING, "Could not stop listening for lock '" + terms.name() + "'", e);
        }
    }

    /** A request is about to be sent: earlier hints are about what was before it. */
    void forgetHints() {
        hinted = false;
    }

    /** Counts a refusal. Whether the options allow another try. */
    boolean countRefusal() {
        return ++refusals < pace.tries();
    }

    boolean wasRefused() {
        return refusals > 0 || lostTickets > 1;
    }

    void pauseAfter(Refusal refusal) {
        endNanos = time.nanoTime() + nextPauseNanos(longestPauseNanos(refusal));
    }

    /** The place in the queue is gone. The first time it asks again at once; a store that loses every ticket gets a rest. */
    void pauseAfterLoss() {
        boolean first = ++lostTickets == 1;
        endNanos = time.nanoTime() + (first ? 0 : nextPauseNanos(Long.MAX_VALUE));
    }

    void pauseForOutage() {
        long part = terms.options().ttl().toNanos() / 30;
        endNanos = time.nanoTime() + Math.min(part, LONGEST_OUTAGE_PAUSE_NANOS);
    }

    /** When the pause ends unless there is a hint. */
    long endNanos() {
        return endNanos;
    }

    boolean isPauseOver() {
        return hinted || endNanos - time.nanoTime() <= 0;
    }

    /** They grow, and vary at random. @param longest not beyond that, whatever the pace */
    private long nextPauseNanos(long longest) {
        double share = pace.jitter() * (2 * ThreadLocalRandom.current().nextDouble() - 1);
        long pause = (long) (pauseNanos * (1 + share));
        pauseNanos = Math.min(pauseNanos * pace.backoff(), Deadline.nanosOf(pace.maxDelay()));
        return Math.max(SHORTEST_PAUSE_NANOS, Math.min(pause, longest));
    }

    private long longestPauseNanos(Refusal refusal) {
        long untilExpiry = refusal.holderTimeLeft().map(Deadline::nanosOf).orElse(Long.MAX_VALUE);
        boolean storePaces = !terms.pollsAsUserSays();
        return storePaces && refusal.askAgain().isPresent()
                ? Math.min(untilExpiry, Deadline.nanosOf(refusal.askAgain().get()))
                : untilExpiry;
    }
}
