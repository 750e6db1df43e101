/** Locks inside one JVM: for tests, and the reference for what a store does. */
@NullMarked
package io.holdfast.memory;

import org.jspecify.annotations.NullMarked;
