package io.holdfast.internal.lock;

/** Throws on what was caught as a Throwable: what is thrown where it is caught, which the compiler cannot know. */
final class Rethrown {

    private Rethrown() {}

    @SuppressWarnings("unchecked")
    static <X extends Throwable> X as(Throwable failure) throws X {
        throw (X) failure;
    }
}
