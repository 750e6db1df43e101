/** The comparison: real servers, other libraries, floors, and the page that comes of it. */
@NullMarked
package io.holdfast.bench.compare;

import org.jspecify.annotations.NullMarked;
