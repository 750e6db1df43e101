package io.holdfast.jdbc;

import io.holdfast.spi.RingingStore.Bell;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Who of this client waits for which lock, and since when it is first in line. Thread-safe. */
final class Bells {

    /** The first in line asks after a tenth of the time it has been first: soon after a short wait, seldom in a long one. */
    private static final int SHARE_OF_WAIT = 10;

    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(1);

    /** One lock this client waits for. */
    private static final class Wait {
        final Set<Runnable> rings = ConcurrentHashMap.newKeySet();
        volatile boolean inLine;
        volatile OptionalLong firstSinceNanos = OptionalLong.empty();
    }

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
            leaves[0] = wait.inLine;
            return null;
        });
        if (leaves[0]) {
            leaveLine.accept(name);
        }
    }

    boolean isListened(String name) {
        return waits.containsKey(name);
    }

    /** The client has a place in line. */
    void stands(String name, boolean first) {
        Wait wait = waits.get(name);
        if (wait != null) {
            wait.inLine = true;
            if (!first) {
                wait.firstSinceNanos = OptionalLong.empty();
            } else if (wait.firstSinceNanos.isEmpty()) {
                wait.firstSinceNanos = OptionalLong.of(time.nanoTime());
            }
        }
    }

    /** The client's place in line is used up. */
    void admitted(String name) {
        Wait wait = waits.get(name);
        if (wait != null) {
            wait.inLine = false;
            wait.firstSinceNanos = OptionalLong.empty();
        }
    }

    /** How soon the first in line should ask again. */
    Duration pauseOfFirst(String name) {
        Wait wait = waits.get(name);
        if (wait == null || wait.firstSinceNanos.isEmpty()) {
            return SHORTEST_PAUSE;
        }
        long since = wait.firstSinceNanos.getAsLong();
        Duration share = Duration.ofNanos((time.nanoTime() - since) / SHARE_OF_WAIT);
        return share.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : share;
    }

    void ring(String name) {
        Wait wait = waits.get(name);
        if (wait != null) {
            wait.rings.forEach(Runnable::run);
        }
    }

    void ringAll() {
        waits.values().forEach(wait -> wait.rings.forEach(Runnable::run));
    }
}
