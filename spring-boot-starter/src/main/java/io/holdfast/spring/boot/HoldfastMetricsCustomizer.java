package io.holdfast.spring.boot;

import io.holdfast.micrometer.HoldfastMetrics;

/** A bean that changes the meters of clients before they are made, such as the tag of locks that no annotation names. */
@FunctionalInterface
public interface HoldfastMetricsCustomizer {

    /** @param client the name of the client's bean */
    void customize(String client, HoldfastMetrics.Builder metrics);
}
