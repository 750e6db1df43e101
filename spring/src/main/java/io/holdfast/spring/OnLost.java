package io.holdfast.spring;

/** What becomes of a method whose lease is lost while it runs. */
public enum OnLost {
    /** Its thread is interrupted, its stage cancelled; the call throws {@link io.holdfast.LeaseLostException}. */
    INTERRUPT,
    /** It runs to its end; then the call throws {@link io.holdfast.LeaseLostException}. */
    THROW_AFTER,
    /** It runs to its end, and its result counts. */
    IGNORE
}
