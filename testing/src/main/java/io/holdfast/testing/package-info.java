/** For tests of applications that lock: start at {@link io.holdfast.testing.TestLocks}. */
@NullMarked
package io.holdfast.testing;

import org.jspecify.annotations.NullMarked;
