package io.holdfast;

/** In which order those who wait are served. */
public enum Fairness {
    /**
     * Clients are served in the store's order; threads of one client may pass each other for a moment and hand the
     * lock on among themselves, within bounds that keep other clients from starving.
     */
    BALANCED,
    /** Every acquisition takes its own ticket in the store's queue: strict arrival order, no local handoff. */
    FIFO,
    /** Try and poll, never queue: whoever asks at the right moment wins. */
    BARGING
}
