package io.holdfast;

import io.holdfast.LockView.Holder;
import io.holdfast.LockView.Origin;
import io.holdfast.LockView.Waiter;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Units of work that seem to wait for each other in a circle: for ever, unless one of them gives up or loses a lease. Suspected
 * only, since the views it was found in may be a moment old, and since a lease may be released by another thread than the one that
 * waits. Immutable. See {@link Deadlocks#find}.
 *
 * @param waits who waits for what, each for the next one, the last for the first
 */
public record Deadlock(List<Wait> waits) {

    public Deadlock {
        waits = List.copyOf(waits);
    }

    /**
     * One of those who wait.
     *
     * @param lock what it waits for
     * @param waiter who; a foreign client, which has no origin, may stand in the queue ahead of another
     * @param holds which of the circle's locks it holds; none if others merely queue behind it
     * @param holder the lock's holder whose unit of work is the next in the circle; empty if the next one queues ahead of this
     */
    public record Wait(String lock, Waiter waiter, List<String> holds, Optional<Holder> holder) {

        public Wait {
            holds = List.copyOf(holds);
        }

        @Override
        public String toString() {
            return waiter.origin().map(Origin::toString).orElse("somebody else's client")
                    + (holds.isEmpty() ? "" : " holds " + quoted(holds) + " and") + " waits for '" + lock + "'";
        }

        private static String quoted(List<String> names) {
            return names.stream().map(name -> "'" + name + "'").collect(Collectors.joining(", "));
        }
    }

    /** The locks that are waited for, each once. */
    public List<String> locks() {
        return waits.stream().map(Wait::lock).distinct().toList();
    }

    /** When the last of them began to wait, which closed the circle; empty if a store does not tell. */
    public Optional<Instant> since() {
        return waits.stream().flatMap(wait -> wait.waiter().since().stream()).max(Comparator.naturalOrder());
    }

    @Override
    public String toString() {
        return waits.stream().map(Wait::toString).collect(Collectors.joining("; "));
    }
}
