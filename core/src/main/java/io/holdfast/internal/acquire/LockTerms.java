package io.holdfast.internal.acquire;

import io.holdfast.Demand;
import io.holdfast.Fairness;
import io.holdfast.LockOptions;
import io.holdfast.UnsupportedLockException;
import io.holdfast.Waiting;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockNames;
import io.holdfast.spi.StoreTraits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What acquisitions through one handle ask for, checked against what the store can do. Immutable.
 *
 * @param name the lock
 * @param demand how it is to be held
 * @param options as given
 * @param site the client's gate for that name
 * @param poll how to poll, or null to wait in the store's queue
 */
public record LockTerms(String name, Demand demand, LockOptions options, LockSite site, Waiting.@Nullable Poll poll) {

    /** Nanoseconds that a release asks for are a long, and the store adds them to its clock. */
    private static final Duration LONGEST_MIN_HOLD = Duration.ofDays(36_500);

    /** Reads the options in the light of the store, or says why it cannot keep them. */
    public static LockTerms of(String name, Demand demand, LockOptions options, StoreTraits traits, LockSites sites) {
        LockNames.require(name);
        if (!traits.supports(demand)) {
            throw new UnsupportedLockException(name, "the " + traits.store() + " store has no " + kind(demand));
        }
        requireTtl(name, options, traits);
        requireHoldTimes(name, options, traits);
        return new LockTerms(name, demand, options, sites.of(name), poll(name, options, traits));
    }

    public LockTerms withDemand(Demand other) {
        return new LockTerms(name, other, options, site, poll);
    }

    /** Whether the user has said how often to ask, which no hint of the store changes. */
    boolean pollsAsUserSays() {
        return options.waiting().orElse(null) instanceof Waiting.Poll;
    }

    /** Whether acquisitions queue at home first, so that one client is one waiter at the store. */
    boolean usesGate() {
        return options.fairness() != Fairness.FIFO;
    }

    private static String kind(Demand demand) {
        return demand instanceof Demand.Permits ? "semaphores" : "shared locks";
    }

    private static void requireTtl(String name, LockOptions options, StoreTraits traits) {
        Duration ttl = options.ttl();
        if (ttl.compareTo(traits.minTtl()) < 0 || ttl.compareTo(traits.maxTtl()) > 0) {
            throw new UnsupportedLockException(
                    name,
                    "a ttl of " + DurationText.of(ttl) + " is outside what the " + traits.store() + " store can keep, "
                            + DurationText.of(traits.minTtl()) + " to " + DurationText.of(traits.maxTtl()));
        }
    }

    private static void requireHoldTimes(String name, LockOptions options, StoreTraits traits) {
        Duration minHold = options.minHold();
        if (minHold.isZero()) {
            return;
        }
        if (!traits.lingers()) {
            throw new UnsupportedLockException(
                    name,
                    "the " + traits.store() + " store cannot keep a released lock taken, so minHold is not possible");
        }
        if (minHold.compareTo(LONGEST_MIN_HOLD) > 0) {
            throw new UnsupportedLockException(
                    name,
                    "no store keeps a released lock taken for " + DurationText.of(minHold) + ", the longest minHold is "
                            + DurationText.of(LONGEST_MIN_HOLD));
        }
        if (options.maxHold().isPresent() && options.maxHold().get().compareTo(minHold) < 0) {
            throw new UnsupportedLockException(
                    name,
                    "maxHold " + DurationText.of(options.maxHold().get()) + " is shorter than minHold "
                            + DurationText.of(minHold));
        }
    }

    private static Waiting.@Nullable Poll poll(String name, LockOptions options, StoreTraits traits) {
        boolean queueing = traits.queues();
        Waiting waiting = options.waiting().orElse(null);
        String storeName = traits.store();
        if (waiting instanceof Waiting.Queue && !queueing) {
            throw new UnsupportedLockException(name, "the " + storeName + " store has no queue; use Waiting.poll()");
        }
        if (options.fairness() == Fairness.FIFO && (!queueing || waiting instanceof Waiting.Poll)) {
            throw new UnsupportedLockException(
                    name,
                    "strict order (FIFO) needs a queue in the store"
                            + (queueing ? ", not polling" : ", and the " + storeName + " store has none"));
        }
        if (options.fairness() == Fairness.BARGING && waiting instanceof Waiting.Queue) {
            throw new UnsupportedLockException(name, "barging never queues; use Waiting.poll() or another fairness");
        }
        if (waiting instanceof Waiting.Poll poll) {
            return poll;
        }
        return queueing && options.fairness() != Fairness.BARGING ? null : traits.poll();
    }
}
