package io.holdfast;

/**
 * What a ticket asks of a lock: to hold it alone, together with other readers, or to take some of its permits.
 *
 * <p>Immutable.
 */
public sealed interface Demand {

    /** Alone. */
    static Demand exclusive() {
        return Exclusive.INSTANCE;
    }

    /** Together with everybody else who asks the same. */
    static Demand shared() {
        return Shared.INSTANCE;
    }

    /** {@code count} of {@code total} permits. */
    static Demand permits(int count, int total) {
        return new Permits(count, total);
    }

    record Exclusive() implements Demand {
        private static final Exclusive INSTANCE = new Exclusive();

        @Override
        public String toString() {
            return "exclusive";
        }
    }

    record Shared() implements Demand {
        private static final Shared INSTANCE = new Shared();

        @Override
        public String toString() {
            return "shared";
        }
    }

    record Permits(int count, int total) implements Demand {
        public Permits {
            if (total < 1) {
                throw new IllegalArgumentException("permits must be at least 1, not " + total);
            }
            if (count < 1 || count > total) {
                throw new IllegalArgumentException(
                        "permits must be between 1 and the total of " + total + ", not " + count);
            }
        }

        @Override
        public String toString() {
            return count + " of " + total + " permits";
        }
    }
}
