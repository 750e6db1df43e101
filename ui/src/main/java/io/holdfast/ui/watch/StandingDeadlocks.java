package io.holdfast.ui.watch;

import io.holdfast.Deadlock;
import io.holdfast.LockView.Origin;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Tells deadlocks from what merely looks like one: a listing shows its locks at different moments, so those who hand locks to each
 * other may seem to wait in a circle. In a real one the same waiters stand in the next look too.
 */
public final class StandingDeadlocks {

    private StandingDeadlocks() {}

    private record Member(String lock, Optional<Origin> who, Optional<Instant> since) {}

    /** Those of {@code now} that were there {@code before}. */
    public static List<Deadlock> of(List<Deadlock> before, List<Deadlock> now) {
        Set<Set<Member>> known = new HashSet<>();
        before.forEach(deadlock -> known.add(members(deadlock)));
        return now.stream()
                .filter(deadlock -> known.contains(members(deadlock)))
                .toList();
    }

    private static Set<Member> members(Deadlock deadlock) {
        Set<Member> members = new HashSet<>();
        deadlock.waits()
                .forEach(wait -> members.add(new Member(
                        wait.lock(), wait.waiter().origin(), wait.waiter().since())));
        return members;
    }
}
