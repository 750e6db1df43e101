package io.holdfast.jdbc;

import io.holdfast.spi.RingingStore.Bell;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Who of this client waits for which lock, and for how long its place in line has not changed. Thread-safe. */
final class Bells {

    /*
     * How often to ask. The first in line asks after a fifth of the time it has been first, the second after twice that and so
     * on: often where the line moves, seldom where it does not, and all together about as often as two or three would.
     */
    private static final int SHARE_OF_WAIT = 5;

    private static final Duration SHORTEST_PAUSE = Duration.ofNanos(300_000);

    /**
     * In a line that moves this fast asking is quicker than waiting to be told: the PostgreSQL driver passes a notification on
     * only after a read of a millisecond that looked for more.
     */
    private static final Duration BRISK = Duration.ofMillis(2);

    private static final Duration LONGEST_PAUSE = Duration.ofMillis(300);

    /** One lock this client waits for. */
    private static final class Wait {
        final Set<Runnable> rings = ConcurrentHashMap.newKeySet();
        volatile @Nullable Place place;
    }

    private record Place(int ahead, long sinceNanos) {}

    private final Map<String, Wait> waits = new ConcurrentHashMap<>();
    private final TimeSource time;
    private final Consumer<String> leaveLine;

    /** @param leaveLine called when nobody waits for a lock any more while the client stands in its line */
    Bells(TimeSource time, Consumer<String> leaveLine) {
        this.time = time;
        this.leaveLine = leaveLine;
    }

    Bell listen(String name, Runnable ring) {
        // Not the user's object: the same one may listen twice.
        Runnable own = ring::run;
        waits.compute(name, (key, wait) -> {
            Wait joined = wait == null ? new Wait() : wait;
            joined.rings.add(own);
            return joined;
        });
        return () -> stopListening(name, own);
    }

    private void stopListening(String name, Runnable ring) {
        boolean[] leaves = new boolean[1];
        waits.computeIfPresent(name, (key, wait) -> {
            wait.rings.remove(ring);
            if (!wait.rings.isEmpty()) {
                return wait;
            }
            leaves[0] = wait.place != null;
            return null;
        });
        if (leaves[0]) {
            leaveLine.accept(name);
        }
    }

    boolean isListened(String name) {
        return waits.containsKey(name);
    }

    /** Whether the client waits and has no place in line, as far as is known. */
    boolean needsPlace(String name) {
        Wait wait = waits.get(name);
        return wait != null && wait.place == null;
    }

    boolean isAnybodyListening() {
        return !waits.isEmpty();
    }

    /** The client stands in line with so many before it. */
    void stands(String name, int ahead) {
        Wait wait = waits.get(name);
        if (wait != null) {
            // Read once: it may be used up the next moment.
            Place known = wait.place;
            if (known == null || known.ahead() != ahead) {
                wait.place = new Place(ahead, time.nanoTime());
            }
        }
    }

    /** The client's place in line is used up. */
    void admitted(String name) {
        Wait wait = waits.get(name);
        if (wait != null) {
            wait.place = null;
        }
    }

    /** Whether asking for the lock would most likely be in vain: others are first, or the client has been first for a while. */
    boolean isHardlyTurn(String name) {
        Place place = place(name);
        return place != null && (place.ahead() > 0 || isOlderThan(place, BRISK));
    }

    /** Whether the line has not moved for so long that being told is as good as asking. */
    boolean isStanding(String name) {
        Place place = place(name);
        return place != null && isOlderThan(place, BRISK.multipliedBy(place.ahead() + 1));
    }

    private boolean isOlderThan(Place place, Duration age) {
        return time.nanoTime() - place.sinceNanos() > age.toNanos();
    }

    private @Nullable Place place(String name) {
        Wait wait = waits.get(name);
        return wait == null ? null : wait.place;
    }

    /** How soon to ask again. */
    Duration pause(String name) {
        Place place = place(name);
        if (place == null) {
            return SHORTEST_PAUSE;
        }
        long pause = Math.max(SHORTEST_PAUSE.toNanos(), (time.nanoTime() - place.sinceNanos()) / SHARE_OF_WAIT);
        return Duration.ofNanos(Math.min(pause * (place.ahead() + 1), LONGEST_PAUSE.toNanos()));
    }

    void ring(String name) {
        Wait wait = waits.get(name);
        if (wait != null) {
            if (wait.place != null) {
                stands(name, 0);
            }
            wait.rings.forEach(Runnable::run);
        }
    }

    void ringAll() {
        waits.values().forEach(wait -> wait.rings.forEach(Runnable::run));
    }
}
