package io.holdfast.internal.lease;

import io.holdfast.Loss;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The news that a lease is lost, and those who asked to hear it: each hears it once, whether it asked before or after.
 * They hear it on the thread that announces it, or asks, so they pass it on at once. Thread-safe. Most leases are never asked
 * about, so one that is not costs nothing.
 */
final class LossNotice {

    private static final State NOTHING = new State(null, List.of());

    private final AtomicReference<State> state = Plainly.holding(NOTHING);

    void add(Consumer<Loss> listener) {
        Loss known = state.updateAndGet(now -> now.with(listener)).loss;
        if (known != null) {
            listener.accept(known);
        }
    }

    void announce(Loss news) {
        state.getAndSet(new State(news, List.of())).listeners.forEach(listener -> listener.accept(news));
    }

    Optional<Loss> loss() {
        return Optional.ofNullable(state.get().loss);
    }

    /** Those who are to hear the news; none once it is out. */
    private record State(@Nullable Loss loss, List<Consumer<Loss>> listeners) {

        State with(Consumer<Loss> listener) {
            return loss != null
                    ? this
                    : new State(
                            null,
                            Stream.concat(listeners.stream(), Stream.of(listener))
                                    .toList());
        }
    }
}
