package io.holdfast.ui.watch;

import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** In which order locks are shown. */
public enum LockOrder {
    /** Most waiters first; among equals the one held longest. */
    HEAT(Comparator.comparing(Seen::waiting).reversed().thenComparing(LockOrder::heldSince)),
    /** Held longest first, what nobody holds last. */
    LONGEST(Comparator.comparing(LockOrder::heldSince)),
    /** About to expire first, what does not expire last. */
    EXPIRY(Comparator.comparing(lock -> lock.expires().orElse(Instant.MAX))),
    NAME(Comparator.comparing(lock -> lock.view().name()));

    private final Comparator<Seen> comparator;

    LockOrder(Comparator<Seen> comparator) {
        this.comparator = comparator.thenComparing(lock -> lock.view().name());
    }

    public Comparator<Seen> comparator() {
        return comparator;
    }

    public static Optional<LockOrder> of(String word) {
        return Arrays.stream(values())
                .filter(order -> order.name().toLowerCase(Locale.ROOT).equals(word))
                .findFirst();
    }

    private static Instant heldSince(Seen lock) {
        return lock.heldSince().orElse(Instant.MAX);
    }
}
