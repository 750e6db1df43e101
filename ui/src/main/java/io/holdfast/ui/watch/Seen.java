package io.holdfast.ui.watch;

import io.holdfast.LockView;
import java.time.Instant;
import java.util.Optional;

/**
 * A lock as it was at one moment. Immutable.
 *
 * @param view its state
 * @param at when that was asked for, by this machine's clock
 */
public record Seen(LockView view, Instant at) {

    public int waiting() {
        return view.waiters().size();
    }

    /** When the first of its holders got it. */
    public Optional<Instant> heldSince() {
        return view.holders().stream()
                .flatMap(holder -> holder.since().stream())
                .min(Instant::compareTo);
    }

    /** When the first of its holders loses it unless it is renewed. */
    public Optional<Instant> expires() {
        return view.holders().stream()
                .flatMap(holder -> holder.timeLeft().stream())
                .map(at::plus)
                .min(Instant::compareTo);
    }

    /** The same with no more than so many holders and waiters: a queue may have thousands. */
    public LockView trimmed(int most) {
        return new LockView(
                view.name(),
                view.holders().subList(0, Math.min(most, view.holders().size())),
                view.waiters().subList(0, Math.min(most, waiting())));
    }
}
