/** Measures locks: the engine behind {@code holdfast bench} and the comparison with other libraries. */
@NullMarked
package io.holdfast.bench;

import org.jspecify.annotations.NullMarked;
