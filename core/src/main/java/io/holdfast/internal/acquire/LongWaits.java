package io.holdfast.internal.acquire;

import io.holdfast.Deadlock;
import io.holdfast.Deadlocks;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.LockView.Waiter;
import io.holdfast.internal.ticket.Cleanup;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Warns, naming the holder and a suspected deadlock, when a wait grows very long: once per lock and period, however many wait,
 * since every warning costs a look at the store. Thread-safe.
 */
public final class LongWaits {

    private static final Logger LOG = System.getLogger(LongWaits.class.getName());

    /** So many locks are remembered at most; then all may be warned of once more. */
    private static final int MOST_REMEMBERED = 10_000;

    /** So many locks are looked at for one warning. Deadlocks are among two or three. */
    private static final int MOST_LOOKED_AT = 16;

    private final String clientName;
    private final Duration tooLong;
    private final Cleanup lookUps;
    private final TimeSource time;
    private final ConcurrentHashMap<String, Long> warnedNanos = new ConcurrentHashMap<>();

    public LongWaits(String clientName, Duration tooLong, Cleanup lookUps, TimeSource time) {
        this.clientName = clientName;
        this.tooLong = tooLong;
        this.lookUps = lookUps;
        this.time = time;
    }

    long tooLongNanos() {
        return Deadline.nanosOf(tooLong);
    }

    /** @param ownWaiters this client's threads and futures that wait for a lock, in front of the store or in its queue */
    void warn(String lockName, Duration waited, Function<String, List<Waiter>> ownWaiters) {
        if (!beginPeriod(lockName)) {
            return;
        }
        int waiting = ownWaiters.apply(lockName).size();
        lookUps.lookUp(lockName, store -> {
            Function<String, LockView> look = name -> withOwn(ownWaiters.apply(name), store.apply(name));
            LockView view = look.apply(lockName);
            String deadlock = deadlock(view, look)
                    .map(found -> ". Suspected deadlock: " + found)
                    .orElse("");
            LOG.log(
                    Level.WARNING,
                    "Client {0} has waited {1} s for lock ''{2}'' ({3} of its threads and futures wait), held by {4}{5}",
                    clientName,
                    Long.toString(waited.toSeconds()),
                    lockName,
                    Integer.toString(waiting),
                    namesOf(view.holders()),
                    deadlock);
        });
    }

    /** Whether the last warning of this lock is long ago; then this counts as a new one. */
    private boolean beginPeriod(String lockName) {
        long now = time.nanoTime();
        if (warnedNanos.size() >= MOST_REMEMBERED) {
            warnedNanos.clear();
        }
        Long last = warnedNanos.get(lockName);
        if (last == null) {
            return warnedNanos.putIfAbsent(lockName, now) == null;
        }
        return now - last >= tooLongNanos() && warnedNanos.replace(lockName, last, now);
    }

    /**
     * A deadlock that this lock is part of. Instead of listing the whole store it goes backwards: who waits here holds other locks,
     * who waits for those holds others again, and so on until somebody holds this one.
     */
    private static Optional<Deadlock> deadlock(LockView waitedFor, Function<String, LockView> look) {
        List<LockView> views = new ArrayList<>();
        Set<String> known = new HashSet<>();
        Deque<String> next = new ArrayDeque<>();
        known.add(waitedFor.name());
        LockView view = waitedFor;
        try {
            while (true) {
                views.add(view);
                for (Waiter waiter : view.waiters()) {
                    waiter.origin()
                            .ifPresent(origin ->
                                    origin.holds().stream().filter(known::add).forEach(next::add));
                }
                if (next.isEmpty() || views.size() == MOST_LOOKED_AT) {
                    break;
                }
                view = look.apply(next.remove());
            }
        } catch (LockException e) {
            LOG.log(Level.DEBUG, "Could not look for a deadlock around lock '" + waitedFor.name() + "'", e);
        }
        return Deadlocks.find(views).stream()
                .filter(found -> found.locks().contains(waitedFor.name()))
                .findFirst();
    }

    /** The store knows only the first of a client's waiters, unless they take tickets of their own. */
    private static LockView withOwn(List<Waiter> own, LockView view) {
        Set<Object> shown = view.waiters().stream().map(LongWaits::whose).collect(Collectors.toSet());
        List<Waiter> waiters = new ArrayList<>(view.waiters());
        own.stream().filter(waiter -> !shown.contains(whose(waiter))).forEach(waiters::add);
        return new LockView(view.name(), view.holders(), waiters);
    }

    private static Object whose(Waiter waiter) {
        return waiter.origin()
                .map(origin ->
                        List.<Object>of(origin.client(), origin.host(), origin.pid(), origin.thread(), origin.note()))
                .orElse(List.of());
    }

    private static String namesOf(List<LockView.Holder> holders) {
        return holders.isEmpty()
                ? "nobody at this moment"
                : holders.stream()
                        .map(holder ->
                                holder.origin().map(LockView.Origin::toString).orElse("somebody else's client"))
                        .collect(Collectors.joining(", "));
    }
}
