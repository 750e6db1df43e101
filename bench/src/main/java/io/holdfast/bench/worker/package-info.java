/** The JVMs that run a load: a team of them as whoever measures sees it, and what each of them does and counts. */
@NullMarked
package io.holdfast.bench.worker;

import org.jspecify.annotations.NullMarked;
