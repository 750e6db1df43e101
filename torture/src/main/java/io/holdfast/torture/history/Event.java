package io.holdfast.torture.history;

import io.holdfast.Demand;
import org.jspecify.annotations.Nullable;

/**
 * One line of a history. Immutable. Which parts are there depends on the {@link Operation}.
 *
 * @param nanos when, in {@link System#nanoTime} terms: just before an invoke, just after an outcome
 * @param process whose event it is: the worker and its incarnation, {@code nemesis} or {@code runner}
 * @param lock the lock it is about; none for faults of everything
 * @param acquisition one call of acquire and what came of it; unique in the run
 * @param owner the request as the store knows it
 * @param demand how the lock is to be held
 * @param token as the user sees it
 * @param sentNanos when the request was sent by which the store last extended this, or earlier
 * @param ttlNanos the ttl the store gave with it
 * @param untilNanos until when the client counts the lease as valid, or earlier
 * @param guard which of the lock's resources is read or written
 * @param value of a resource: the id of a write; of a fault: its name
 * @param previous the write on which this write builds; empty if there was none
 * @param detail for people, and the reason of a loss
 */
public record Event(
        long nanos,
        String process,
        Operation operation,
        Phase phase,
        @Nullable String lock,
        @Nullable String acquisition,
        @Nullable String owner,
        @Nullable Demand demand,
        @Nullable Long token,
        @Nullable Long sentNanos,
        @Nullable Long ttlNanos,
        @Nullable Long untilNanos,
        @Nullable Guard guard,
        @Nullable String value,
        @Nullable String previous,
        @Nullable String detail) {

    public static Builder at(long nanos, String process, Operation operation, Phase phase) {
        return new Builder(nanos, process, operation, phase);
    }

    public boolean is(Operation expected, Phase expectedPhase) {
        return operation == expected && phase == expectedPhase;
    }

    /** Collects the parts of an event. Not thread-safe. */
    public static final class Builder {

        private final long nanos;
        private final String process;
        private final Operation operation;
        private final Phase phase;
        private @Nullable String lock;
        private @Nullable String acquisition;
        private @Nullable String owner;
        private @Nullable Demand demand;
        private @Nullable Long token;
        private @Nullable Long sentNanos;
        private @Nullable Long ttlNanos;
        private @Nullable Long untilNanos;
        private @Nullable Guard guard;
        private @Nullable String value;
        private @Nullable String previous;
        private @Nullable String detail;

        private Builder(long nanos, String process, Operation operation, Phase phase) {
            this.nanos = nanos;
            this.process = process;
            this.operation = operation;
            this.phase = phase;
        }

        public Builder lock(String name) {
            lock = name;
            return this;
        }

        public Builder acquisition(String id) {
            acquisition = id;
            return this;
        }

        public Builder owner(String id) {
            owner = id;
            return this;
        }

        public Builder demand(Demand asked) {
            demand = asked;
            return this;
        }

        public Builder token(long number) {
            token = number;
            return this;
        }

        public Builder sent(long atNanos, long ttl) {
            sentNanos = atNanos;
            ttlNanos = ttl;
            return this;
        }

        public Builder until(long atNanos) {
            untilNanos = atNanos;
            return this;
        }

        public Builder guard(Guard kind) {
            guard = kind;
            return this;
        }

        public Builder value(String id) {
            value = id;
            return this;
        }

        public Builder previous(String id) {
            previous = id;
            return this;
        }

        public Builder detail(String text) {
            detail = text;
            return this;
        }

        public Event build() {
            return new Event(
                    nanos,
                    process,
                    operation,
                    phase,
                    lock,
                    acquisition,
                    owner,
                    demand,
                    token,
                    sentNanos,
                    ttlNanos,
                    untilNanos,
                    guard,
                    value,
                    previous,
                    detail);
        }
    }
}
