package io.holdfast.spring.boot;

import io.holdfast.HoldfastBuilder;

/** A bean that changes the settings of clients before they connect. Called for each client, in order of the beans. */
@FunctionalInterface
public interface HoldfastBuilderCustomizer {

    /** @param client the name of the client's bean */
    void customize(String client, HoldfastBuilder builder);
}
