/** Engines, stores and resources with one flaw each: what the checker must find in real histories. */
@NullMarked
package io.holdfast.torture.mutant;

import org.jspecify.annotations.NullMarked;
