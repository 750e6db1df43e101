/** Judges a history: which promises held, which broke, and on which operations. Start at {@link Checker}. */
@NullMarked
package io.holdfast.torture.check;

import org.jspecify.annotations.NullMarked;
