/** Who competes on which server: ourselves, other libraries, and the floors of the stores. */
@NullMarked
package io.holdfast.bench.compare.arena;

import org.jspecify.annotations.NullMarked;
