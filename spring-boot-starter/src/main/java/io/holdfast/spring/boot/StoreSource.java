package io.holdfast.spring.boot;

import io.holdfast.HoldfastBuilder;

/** Knows a store that the application has configured for another purpose. */
@FunctionalInterface
interface StoreSource {

    /** Sets the store, if there is one; false if not. */
    boolean set(HoldfastBuilder builder, ClientProperties properties);
}
