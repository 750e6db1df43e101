package io.holdfast.spi;

import java.util.Set;

/** Makes a module's stores known by URI scheme; found by {@link java.util.ServiceLoader}. */
public interface StoreProvider {

    /** In lower case. */
    Set<String> schemes();

    /** A URI to show to people, such as {@code redis://localhost:6379}. */
    String example();

    /**
     * Checks the URI, parameters included.
     *
     * @throws IllegalArgumentException naming what is wrong with it, without its credentials
     */
    StoreFactory store(StoreUri uri);
}
