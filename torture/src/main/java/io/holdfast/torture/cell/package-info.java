/** One run: workers, nemesis and store brought together, the history gathered and judged. */
@NullMarked
package io.holdfast.torture.cell;

import org.jspecify.annotations.NullMarked;
