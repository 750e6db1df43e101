/** The page that tells of it. */
@NullMarked
package io.holdfast.bench.compare.page;

import org.jspecify.annotations.NullMarked;
