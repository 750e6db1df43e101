/** Metrics of clients for Micrometer: {@link io.holdfast.micrometer.HoldfastMetrics}. */
@NullMarked
package io.holdfast.micrometer;

import org.jspecify.annotations.NullMarked;
