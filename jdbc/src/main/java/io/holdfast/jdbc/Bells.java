package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.spi.HintingStore.Hints;
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

    /** Of everybody, also of those who would be told: what a lost notification or baton costs. */
    static final Duration LONGEST_PAUSE = Duration.ofMillis(250);

    private enum Stage {
        /** Not refused yet. */
        ASKING,
        /** Refused: queues for the baton, or stands in line. */
        REFUSED,
        /** The baton did not come in time: stands in line. */
        IN_A_SLOW_LINE
    }

    /** One lock this client waits for. */
    private static final class Wait {
        final Set<Ring> rings = ConcurrentHashMap.newKeySet();
        volatile Stage stage = Stage.ASKING;
        volatile @Nullable Place place;
        volatile @Nullable Baton baton;

        boolean isForAlone() {
            return rings.stream().anyMatch(ring -> ring.demand() instanceof Demand.Exclusive);
        }

        void ring() {
            rings.forEach(ring -> ring.call().run());
        }
    }

    /** Not the caller's object: the same one may listen twice. */
    private static final class Ring {
        private final Demand demand;
        private final Runnable call;

        Ring(Demand demand, Runnable call) {
            this.demand = demand;
            this.call = call;
        }

        Demand demand() {
            return demand;
        }

        Runnable call() {
            return call;
        }
    }

    private record Place(int ahead, long sinceNanos) {}

    private final Map<String, Wait> waits = new ConcurrentHashMap<>();
    private final TimeSource time;
    private final Consumer<String> leaveLine;
    private final Consumer<Baton> giveUp;

    /**
     * @param leaveLine called when nobody waits for a lock any more while the client stands in its line
     * @param giveUp called when nobody waits any more who has use for a baton
     */
    Bells(TimeSource time, Consumer<String> leaveLine, Consumer<Baton> giveUp) {
        this.time = time;
        this.leaveLine = leaveLine;
        this.giveUp = giveUp;
    }

    Hints listen(String name, Demand demand, Runnable call) {
        Ring own = new Ring(demand, call);
        waits.compute(name, (key, wait) -> {
            Wait joined = wait == null ? new Wait() : wait;
            joined.rings.add(own);
            return joined;
        });
        return () -> stopListening(name, own);
    }

    private void stopListening(String name, Ring ring) {
        Wait[] left = new Wait[1];
        Baton[] unused = new Baton[1];
        waits.computeIfPresent(name, (key, wait) -> {
            wait.rings.remove(ring);
            if (!wait.isForAlone()) {
                unused[0] = wait.baton;
                wait.baton = null;
            }
            left[0] = wait.rings.isEmpty() ? wait : null;
            return wait.rings.isEmpty() ? null : wait;
        });
        if (unused[0] != null) {
            giveUp.accept(unused[0]);
        } else if (left[0] != null && left[0].place != null) {
            leaveLine.accept(name);
        }
    }

    /** The baton this client queues for or has, to hold the lock alone. */
    @Nullable
    Baton baton(String name) {
        Wait wait = waits.get(name);
        return wait == null ? null : wait.baton;
    }

    /** It now queues for this one. False if nobody waits any more to whom that is of use. */
    boolean queuesFor(String name, Baton baton) {
        Wait queuing = waits.computeIfPresent(name, (key, wait) -> {
            wait.baton = wait.isForAlone() ? baton : null;
            return wait;
        });
        return queuing != null && queuing.baton == baton;
    }

    /** The baton did not come in time: the client stands in line for itself as long as it waits. */
    void isSlow(String name) {
        Wait wait = waits.get(name);
        if (wait != null) {
            wait.stage = Stage.IN_A_SLOW_LINE;
        }
    }

    /** Whether the client may queue for the lock's baton: it has no place of its own, which left alone would hold everybody up. */
    boolean mayQueue(String name) {
        Wait wait = waits.get(name);
        return wait != null && wait.stage != Stage.IN_A_SLOW_LINE && wait.place == null;
    }

    /** It went to the lock's holder, or is of no use any more. */
    void forget(String name, Baton baton) {
        waits.computeIfPresent(name, (key, wait) -> {
            if (wait.baton == baton) {
                wait.baton = null;
                wait.place = null;
            }
            return wait;
        });
    }

    boolean isListened(String name) {
        return waits.containsKey(name);
    }

    /** Notes a refusal; whether it is the first since the client began to wait. */
    boolean isFirstRefusal(String name) {
        Wait wait = waits.get(name);
        boolean first = wait != null && wait.stage == Stage.ASKING;
        if (first) {
            wait.stage = Stage.REFUSED;
        }
        return first;
    }

    /** Whether the client waits and has been refused since it began to: from then on it stands in line, or queues for the baton. */
    boolean wasRefused(String name) {
        Wait wait = waits.get(name);
        return wait != null && wait.stage != Stage.ASKING;
    }

    /** Whether the client was refused and has no place in line, as far as is known. */
    boolean needsPlace(String name) {
        Wait wait = waits.get(name);
        return wait != null && wait.stage != Stage.ASKING && wait.place == null;
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
            wait.ring();
        }
    }

    /** It is the relay's turn: of those who queue for the baton only the one that has it needs to know. */
    void ringRelay(String name) {
        Baton baton = baton(name);
        if (baton != null && baton.isOurs()) {
            ring(name);
        }
    }

    void ringAll() {
        waits.values().forEach(Wait::ring);
    }
}
