package io.holdfast.internal.lease;

import java.util.concurrent.atomic.AtomicReference;

/** Atomic references without the fence that setting their first value costs, for objects made by the million. */
final class Plainly {

    private Plainly() {}

    /** To be kept in a final field, which makes the first value visible to whoever sees the object. */
    static <T> AtomicReference<T> holding(T first) {
        AtomicReference<T> reference = new AtomicReference<>();
        reference.setPlain(first);
        return reference;
    }
}
