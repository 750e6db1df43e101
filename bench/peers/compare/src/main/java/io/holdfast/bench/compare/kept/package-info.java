/** What was measured, when, and under which conditions. */
@NullMarked
package io.holdfast.bench.compare.kept;

import org.jspecify.annotations.NullMarked;
