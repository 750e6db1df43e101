/**
 * Small parts that several stores need. A store may use them or not; none of them knows a store or the engine.
 */
@NullMarked
package io.holdfast.spi.support;

import org.jspecify.annotations.NullMarked;
