package io.holdfast;

/** Throws what is not declared, as Kotlin and Lombok's {@code @SneakyThrows} do. */
final class Sneaky {

    private Sneaky() {}

    /** Never returns, whatever the compiler thinks. */
    @SuppressWarnings("unchecked")
    static <X extends Throwable> void sneak(Throwable failure) throws X {
        throw (X) failure;
    }
}
