package io.holdfast.internal.lease;

import io.holdfast.ReleaseResult;
import java.util.concurrent.atomic.AtomicReference;

/*
 * The states of a lease.
 *
 *            release()                     store: released
 *   HELD ──────────────► RELEASING ──────────────────────► RELEASED
 *    │                      │  │    store: did not answer
 *    │ deadline, store says │  └─────────────────────────► PENDING
 *    │ gone, maxHold, close │  store: was not held
 *    └──────────────► LOST ◄┘
 *
 * Whoever makes the transition out of HELD, and nobody else, gives back what the lease had: the grant at the store and
 * the place inside the gate. So both happen once, whether release, the deadline and the keeper's news race or not.
 */
final class LeaseState {

    enum State {
        HELD,
        RELEASING,
        RELEASED,
        PENDING,
        LOST
    }

    private final AtomicReference<State> state = Plainly.holding(State.HELD);

    State get() {
        return state.get();
    }

    boolean isHeld() {
        return state.get() == State.HELD;
    }

    /** True for the one caller who ends the lease by releasing it. */
    boolean beginRelease() {
        return state.compareAndSet(State.HELD, State.RELEASING);
    }

    /** By the one whose {@link #beginRelease} was true. */
    void finishRelease(ReleaseResult result) {
        state.set(
                switch (result) {
                    case RELEASED -> State.RELEASED;
                    case PENDING -> State.PENDING;
                    case ALREADY_LOST -> State.LOST;
                });
    }

    /** By the one whose {@link #beginRelease} was true, if the lease goes on after all. */
    void cancelRelease() {
        state.set(State.HELD);
    }

    /** True for the one caller who ends the lease by losing it. */
    boolean lose() {
        return state.compareAndSet(State.HELD, State.LOST);
    }

    /** What to tell somebody who releases a lease that is not held any more. */
    ReleaseResult result() {
        return switch (state.get()) {
            case LOST -> ReleaseResult.ALREADY_LOST;
            case RELEASED -> ReleaseResult.RELEASED;
            case HELD, RELEASING, PENDING -> ReleaseResult.PENDING;
        };
    }
}
