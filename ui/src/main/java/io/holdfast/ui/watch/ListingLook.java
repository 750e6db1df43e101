package io.holdfast.ui.watch;

import io.holdfast.Deadlock;
import io.holdfast.Deadlocks;
import io.holdfast.Holdfast;
import io.holdfast.LockPage;
import io.holdfast.LockView;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Walks through the locks whose names begin with a prefix, a page per request. */
public final class ListingLook extends Look {

    private static final int LOCKS_PER_PAGE = 500;

    private final String prefix;
    private final int most;
    private volatile @Nullable Listing latest;

    private Map<String, Seen> found = new TreeMap<>();
    private Optional<String> next = Optional.empty();
    private @Nullable Instant begun;
    private long walks;
    private List<Deadlock> seeming = List.of();

    ListingLook(String prefix, int most, Duration interval, long nowNanos) {
        super(interval, nowNanos);
        this.prefix = prefix;
        this.most = most;
    }

    /**
     * The last walk that came to its end; before the first did, what has been seen so far. Empty before the store has answered.
     * Thread-safe.
     */
    public Optional<Listing> latest() {
        return Optional.ofNullable(latest);
    }

    @Override
    int step(Holdfast holdfast) {
        Instant asked = Instant.now();
        Instant first = begun == null ? asked : begun;
        begun = first;
        LockPage page = holdfast.locks(prefix, next, LOCKS_PER_PAGE);
        for (LockView view : page.locks()) {
            if (view.isHeld() || !view.waiters().isEmpty()) {
                found.put(view.name(), new Seen(view, asked));
            }
        }
        next = found.size() < most ? page.next() : Optional.empty();
        if (next.isEmpty()) {
            finish(first, page.next().isPresent() ? Listing.Extent.CUT : Listing.Extent.COMPLETE);
        } else if (latest == null || latest.extent() == Listing.Extent.PARTIAL) {
            publish(found(), Listing.Extent.PARTIAL, first, List.of(), List.of());
        }
        return Math.max(1, page.locks().size());
    }

    private void finish(Instant first, Listing.Extent extent) {
        Listing before = latest;
        boolean comparable =
                before != null && before.extent() == Listing.Extent.COMPLETE && extent == Listing.Extent.COMPLETE;
        publish(
                Collections.unmodifiableMap(found),
                extent,
                first,
                deadlocks(),
                comparable ? Listing.ended(before.locks(), found, Instant.now()) : List.of());
        startAgain();
    }

    private List<Deadlock> deadlocks() {
        if (!prefix.isEmpty()) {
            return List.of();
        }
        List<Deadlock> before = seeming;
        seeming = Deadlocks.find(found.values().stream().map(Seen::view).toList());
        return StandingDeadlocks.of(before, seeming);
    }

    private Map<String, Seen> found() {
        return Collections.unmodifiableMap(new TreeMap<>(found));
    }

    private void publish(
            Map<String, Seen> locks,
            Listing.Extent extent,
            Instant first,
            List<Deadlock> deadlocks,
            List<Duration> ended) {
        walks++;
        latest = new Listing(walks, locks, extent, first, Duration.between(first, Instant.now()), deadlocks, ended);
    }

    @Override
    boolean isAtItsEnd() {
        return begun == null;
    }

    @Override
    void startAgain() {
        found = new TreeMap<>();
        next = Optional.empty();
        begun = null;
    }
}
