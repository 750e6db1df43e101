package io.holdfast.internal;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.StoreContext.Timer;
import io.holdfast.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/*
 * Keeps what this client has at the store alive, and notices when it cannot.
 *
 * Everything kept sits in one map. The timer thread walks it when something is due, sorts what is due into one batch per
 * server, hands each batch to that server's renewal thread, and ends what has reached its local deadline. It does no I/O,
 * so a hanging server never delays the news that a lease is over.
 *
 * A lock that is taken and released at once must not pay for this: keep and drop are one map operation each, and the
 * timer is set only if the new due time lies before the next planned walk. Walks are bunched (slackNanos), so ten
 * thousand leases cost some ten walks per renewal period, not ten thousand.
 *
 * The walk removes nothing from the map: whoever ends a claim drops it (a lease that is lost, once its release is among the
 * errands; an acquisition that leaves its line). It used to remove what had reached its end and then tell it so. An answer
 * that came in between moved the end, the lease saw time left and went on, and nobody kept it any more; and close(), called
 * in between, found nothing kept and no errand yet. Now a claim that turns out to go on is still kept.
 *
 * An earlier plan replaces a later one; the later one's alarm still goes off, finds that it is not the plan any more and
 * does nothing. The walk forgets its plan before it looks at the map: a claim added before the look is seen by it, one
 * added after it finds no plan and makes one.
 */
final class Keeper {

    private static final Logger LOG = System.getLogger(Keeper.class.getName());

    private final LockStore store;
    private final TimeSource time;
    private final Timer timer;
    private final Lanes lanes;
    private final Duration requestTimeout;
    private final Runnable afterWalk;
    private final ConcurrentHashMap<OwnerId, Kept> kept = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable Plan> planned = new AtomicReference<>();

    Keeper(LockStore store, TimeSource time, Timer timer, Lanes lanes, Duration requestTimeout, Runnable afterWalk) {
        this.store = store;
        this.time = time;
        this.timer = timer;
        this.lanes = lanes;
        this.requestTimeout = requestTimeout;
        this.afterWalk = afterWalk;
    }

    void keep(Kept claim) {
        kept.put(claim.owner(), claim);
        plan(next(claim));
    }

    void drop(Kept claim) {
        kept.remove(claim.owner(), claim);
    }

    @Nullable
    Kept find(OwnerId owner) {
        return kept.get(owner);
    }

    Collection<Kept> all() {
        return kept.values();
    }

    boolean isEmpty() {
        return kept.isEmpty();
    }

    private static long next(Kept claim) {
        return earlier(claim.dueNanos(), claim.endNanos());
    }

    private static long earlier(long a, long b) {
        return a - b < 0 ? a : b;
    }

    private static long later(long a, long b) {
        return a - b < 0 ? b : a;
    }

    private void plan(long atNanos) {
        Plan known = planned.get();
        while (known == null || atNanos - known.atNanos < 0) {
            Plan earlier = new Plan(atNanos);
            if (planned.compareAndSet(known, earlier)) {
                timer.at(atNanos, () -> walk(earlier));
                return;
            }
            known = planned.get();
        }
    }

    private void walk(Plan plan) {
        if (!planned.compareAndSet(plan, null)) {
            return;
        }
        long now = time.nanoTime();
        Map<String, List<Kept>> due = new HashMap<>();
        for (Kept claim : kept.values()) {
            try {
                look(claim, now, due);
            } catch (RuntimeException | Error e) {
                lookAgainAfter(e, claim);
            }
        }
        due.forEach(this::submit);
        afterWalk.run();
    }

    private void look(Kept claim, long now, Map<String, List<Kept>> due) {
        if (claim.endNanos() - now <= 0) {
            claim.ended();
            lookAgainIfKept(claim, now);
            return;
        }
        if (claim.dueNanos() - now <= claim.slackNanos()) {
            String lane = claim.lane();
            if (claim.beginRequest()) {
                due.computeIfAbsent(lane, none -> new ArrayList<>()).add(claim);
                plan(claim.endNanos());
                return;
            }
        }
        // One with a request under way may be overdue: looking again sooner than its slack would spin.
        plan(earlier(later(claim.dueNanos(), now + claim.slackNanos()), claim.endNanos()));
    }

    /** One claim's trouble, be it a bug of a store or too little memory for a thread, is not that of the others. */
    private void lookAgainAfter(Throwable trouble, Kept claim) {
        LOG.log(Level.ERROR, "A lease could not be looked after, trying again", trouble);
        plan(earlier(time.nanoTime() + claim.slackNanos(), claim.endNanos()));
    }

    /** It goes on after all, or somebody else is about to drop it: looking again sooner than its slack would spin. */
    private void lookAgainIfKept(Kept claim, long now) {
        if (kept.get(claim.owner()) == claim) {
            plan(later(next(claim), now + claim.slackNanos()));
        }
    }

    private void submit(String lane, List<Kept> batch) {
        try {
            lanes.renewals(lane).execute(() -> renew(batch));
        } catch (RuntimeException | Error e) {
            batch.forEach(Kept::finishRequest);
            batch.forEach(claim -> lookAgainAfter(e, claim));
        }
    }

    private void renew(List<Kept> batch) {
        List<RenewalRequest> requests = new ArrayList<>(batch.size());
        Duration shortest = requestTimeout;
        for (Kept claim : batch) {
            RenewalRequest request = claim.renewalRequest();
            requests.add(request);
            // A request that hangs must leave time for another before the lease ends.
            Duration third = request.ttl().dividedBy(3);
            shortest = third.compareTo(shortest) < 0 ? third : shortest;
        }
        List<RenewalAnswer> answers;
        try {
            answers = store.renew(requests, Deadline.after(time, shortest));
            if (answers.size() != batch.size()) {
                throw new IllegalStateException(answers.size() + " answers to " + batch.size() + " renewals");
            }
        } catch (LockException e) {
            answers = unsettled(batch.size(), e);
        } catch (RuntimeException | Error e) {
            // Also what a store should not throw: whatever happens, the lease is renewed again.
            String lock = requests.get(0).claim().request().name();
            answers = unsettled(batch.size(), new StoreUnavailableException(lock, "the renewal failed", e));
        }
        for (int i = 0; i < batch.size(); i++) {
            try {
                settle(batch.get(i), answers.get(i));
            } catch (RuntimeException | Error e) {
                lookAgainAfter(e, batch.get(i));
            }
        }
    }

    private void settle(Kept claim, RenewalAnswer answer) {
        try {
            if (answer instanceof RenewalAnswer.Extended extended) {
                claim.extended(extended);
            } else if (answer instanceof RenewalAnswer.Unsettled unsettled) {
                claim.failing(unsettled.cause());
            }
        } finally {
            claim.finishRequest();
        }
        if (answer instanceof RenewalAnswer.Gone gone) {
            drop(claim);
            claim.gone(LossReason.GONE, gone.reason());
        } else {
            plan(next(claim));
        }
    }

    private static List<RenewalAnswer> unsettled(int count, LockException cause) {
        List<RenewalAnswer> answers = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            answers.add(new RenewalAnswer.Unsettled(cause));
        }
        return answers;
    }

    /** The next walk. A class, not a number, since plans are told apart by identity. */
    private static final class Plan {

        private final long atNanos;

        Plan(long atNanos) {
            this.atNanos = atNanos;
        }
    }
}
