package io.holdfast.ui.watch;

import io.holdfast.Deadlock;
import io.holdfast.LockView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What one walk through the locks of a store has shown. Immutable.
 *
 * @param number larger for every later one of the same prefix
 * @param locks by name
 * @param extent how much of the store it shows
 * @param begun when the walk began
 * @param took how long it took, so far if it is not over
 * @param deadlocks that this walk and the one before have seen; looked for only among all locks
 * @param endedHolds how long locks were held that the walk before had still seen held; to within one walk
 */
public record Listing(
        long number,
        Map<String, Seen> locks,
        Extent extent,
        Instant begun,
        Duration took,
        List<Deadlock> deadlocks,
        List<Duration> endedHolds) {

    /** How much of a store a listing shows. */
    public enum Extent {
        /** The walk goes on. */
        PARTIAL,
        /** Everything. */
        COMPLETE,
        /** There are more locks than are looked at. */
        CUT
    }

    /** More ended holds than that are of no use to a plot. */
    private static final int MOST_ENDED = 500;

    public long held() {
        return locks.values().stream().filter(lock -> lock.view().isHeld()).count();
    }

    public long waiting() {
        return locks.values().stream().mapToLong(Seen::waiting).sum();
    }

    /** How long those held locks in {@code before} that no longer do in {@code now}, seen at that time. */
    static List<Duration> ended(Map<String, Seen> before, Map<String, Seen> now, Instant at) {
        List<Duration> ended = new ArrayList<>();
        for (Seen lock : before.values()) {
            Seen later = now.getOrDefault(
                    lock.view().name(), new Seen(LockView.free(lock.view().name()), at));
            Set<Long> stillHeld = new HashSet<>();
            later.view().holders().forEach(holder -> holder.token().ifPresent(stillHeld::add));
            for (LockView.Holder holder : lock.view().holders()) {
                if (holder.token().isPresent()
                        && holder.since().isPresent()
                        && !stillHeld.contains(holder.token().get())
                        && ended.size() < MOST_ENDED) {
                    Duration held = Duration.between(holder.since().get(), later.at());
                    ended.add(held.isNegative() ? Duration.ZERO : held);
                }
            }
        }
        return ended;
    }
}
