package io.holdfast.ui;

import io.holdfast.Holdfast;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A store the dashboard shows. Immutable.
 *
 * @param label its address for people, without credentials
 * @param connector connects to it; called again until it succeeds
 * @param showCommand what to type in a shell to see the lock of that name, without credentials
 * @param waiters whether waiting tickets are kept in the store, where they can be seen
 */
public record WatchedStore(
        String label, Supplier<Holdfast> connector, UnaryOperator<String> showCommand, Waiters waiters) {

    /** What a store can show of those who wait. */
    public enum Waiters {
        LISTED,
        /** They poll, as on Redlock. */
        NOT_LISTED
    }
}
