/** Finds misuse when the application starts. Not for use by applications. */
@NullMarked
package io.holdfast.spring.start;

import org.jspecify.annotations.NullMarked;
