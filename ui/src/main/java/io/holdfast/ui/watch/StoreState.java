package io.holdfast.ui.watch;

import java.time.Instant;

/**
 * How a store is doing. Immutable.
 *
 * @param status whether it answers
 * @param message what keeps it from answering, without credentials; empty if it does
 * @param since for how long it has been so
 */
public record StoreState(Status status, String message, Instant since) {

    /** Whether a store answers. */
    public enum Status {
        CONNECTING,
        UP,
        DOWN
    }
}
