package io.holdfast;

import java.util.List;
import java.util.Optional;

/**
 * A part of a listing of locks. Immutable.
 *
 * @param locks in the store's order; a lock that changes during the listing may be missing, or come twice
 * @param next where the next page begins, in terms only the store knows; empty after the last
 */
public record LockPage(List<LockView> locks, Optional<String> next) {

    public LockPage {
        locks = List.copyOf(locks);
    }
}
