package io.holdfast.internal.lease;

import io.holdfast.Loss;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The loss of a lease and the callbacks of onLost: each is called once, whether it was added before the loss or after it.
 * They are called on the thread that announces the loss, or adds them, so they hand over to another at once. Thread-safe. Most leases are never asked
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

    /** The callbacks still to be called; none once the loss is known. */
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
