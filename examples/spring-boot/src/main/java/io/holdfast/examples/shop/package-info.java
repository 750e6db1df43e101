/** A shop that runs as several instances: what goes wrong without locks, and how {@code @Locked} prevents it. */
package io.holdfast.examples.shop;
