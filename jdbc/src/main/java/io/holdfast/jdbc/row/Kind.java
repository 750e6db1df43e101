package io.holdfast.jdbc.row;

import io.holdfast.Demand;
import java.util.Locale;

/** How a lock is held or wanted, as the {@code kind} columns say. */
public enum Kind {
    EXCLUSIVE,
    SHARED,
    PERMITS;

    final String text = name().toLowerCase(Locale.ROOT);

    static Kind of(Demand demand) {
        if (demand instanceof Demand.Exclusive) {
            return EXCLUSIVE;
        }
        return demand instanceof Demand.Shared ? SHARED : PERMITS;
    }

    public static Kind parse(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT));
    }

    /** Of how many permits a holder takes some. Readers take one each of more than there will ever be. */
    static int total(Demand demand) {
        if (demand instanceof Demand.Permits some) {
            return some.total();
        }
        return demand instanceof Demand.Shared ? Integer.MAX_VALUE : 1;
    }

    public static int permits(Demand demand) {
        return demand instanceof Demand.Permits some ? some.count() : 1;
    }

    public Demand demand(int permits, int total) {
        return switch (this) {
            case EXCLUSIVE -> Demand.exclusive();
            case SHARED -> Demand.shared();
            case PERMITS -> Demand.permits(permits, total);
        };
    }
}
