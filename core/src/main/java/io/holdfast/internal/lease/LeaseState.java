package io.holdfast.internal.lease;

import io.holdfast.ReleaseResult;
import java.util.concurrent.atomic.AtomicReference;

/*
 * The states of a lease.
 *
 *             downgrade()                    not done
 *   HELD ◄──────────────────► DOWNGRADING ──────────────► HELD
 *    │                          │     │ release()
 *    │                          │     └──────────► RELEASE_WANTED ── not done ──► RELEASING
 *    │                          │ done                   │ done
 *    │                          └──────────► RELEASED ◄──┘
 *    │
 *    │  release()                     store: released
 *    ├──────────────► RELEASING ──────────────────────► RELEASED
 *    │                   │  │    store: did not answer
 *    │ deadline, gone,   │  └─────────────────────────► PENDING
 *    │ maxHold, close    │  store: was not held
 *    └──────────────► LOST ◄┘
 *
 * Whoever makes the transition out of HELD, and nobody else, gives back what the lease had: the grant at the store and
 * the stay inside the gate. So both happen once, whether release, the deadline and the keeper's news race or not.
 */

/** Where a lease is in its life. Thread-safe. */
final class LeaseState {

    enum State {
        HELD,
        /** Being turned into a shared lease. */
        DOWNGRADING,
        /** As before, and released meanwhile: if it is not turned into another lease, it is released then. */
        RELEASE_WANTED,
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

    /** True for the one caller who ends the lease by releasing it. One that comes during a downgrade is remembered. */
    boolean beginRelease() {
        State before = state.getAndUpdate(now -> switch (now) {
            case HELD -> State.RELEASING;
            case DOWNGRADING -> State.RELEASE_WANTED;
            default -> now;
        });
        return before == State.HELD;
    }

    /** By the one who releases it, or who lets another lease go on in its place. */
    void finishRelease(ReleaseResult result) {
        state.set(
                switch (result) {
                    case RELEASED -> State.RELEASED;
                    case PENDING -> State.PENDING;
                    case ALREADY_LOST -> State.LOST;
                });
    }

    /** True for the one caller who may turn it into another lease. */
    boolean beginDowngrade() {
        return state.compareAndSet(State.HELD, State.DOWNGRADING);
    }

    /** The downgrade was not done. False if it was released meanwhile: then the caller releases it. */
    boolean goOn() {
        State before = state.getAndUpdate(now -> now == State.RELEASE_WANTED ? State.RELEASING : State.HELD);
        return before == State.DOWNGRADING;
    }

    /** True for the one caller who ends the lease by losing it. */
    boolean lose() {
        return state.compareAndSet(State.HELD, State.LOST);
    }

    /** What a release returns when the lease is not held any more. */
    ReleaseResult result() {
        return switch (state.get()) {
            case LOST -> ReleaseResult.ALREADY_LOST;
            case RELEASED -> ReleaseResult.RELEASED;
            case HELD, DOWNGRADING, RELEASE_WANTED, RELEASING, PENDING -> ReleaseResult.PENDING;
        };
    }
}
