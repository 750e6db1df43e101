package io.holdfast.torture.history;

/** How a resource defends itself against holders whose lease has ended. */
public enum Guard {
    /** It refuses a smaller token than it has seen, on the first read and on every write. */
    CHECKED,
    /** Not at all. */
    UNCHECKED
}
