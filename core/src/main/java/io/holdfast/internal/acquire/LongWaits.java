package io.holdfast.internal.acquire;

import io.holdfast.LockView;
import io.holdfast.internal.ticket.Cleanup;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Warns, naming the holder, when a wait grows very long: once per lock and period, however many wait, since every warning costs
 * a look at the store. Thread-safe.
 */
public final class LongWaits {

    private static final Logger LOG = System.getLogger(LongWaits.class.getName());

    /** So many locks are remembered at most; then all may be warned of once more. */
    private static final int MOST_REMEMBERED = 10_000;

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

    void warn(String lockName, Duration waited, ToLongFunction<String> waiters) {
        if (!isFirstOfPeriod(lockName)) {
            return;
        }
        long waiting = waiters.applyAsLong(lockName);
        lookUps.lookUp(
                lockName,
                view -> LOG.log(
                        Level.WARNING,
                        "Client {0} has waited {1} s for lock ''{2}'' ({3} of its threads and futures wait), held by {4}",
                        clientName,
                        Long.toString(waited.toSeconds()),
                        lockName,
                        Long.toString(waiting),
                        namesOf(view.holders())));
    }

    private boolean isFirstOfPeriod(String lockName) {
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

    private static String namesOf(List<LockView.Holder> holders) {
        return holders.isEmpty()
                ? "nobody at this moment"
                : holders.stream()
                        .map(holder ->
                                holder.origin().map(LockView.Origin::toString).orElse("somebody else's client"))
                        .collect(Collectors.joining(", "));
    }
}
