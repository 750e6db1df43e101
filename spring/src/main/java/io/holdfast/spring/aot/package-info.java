/** What is told ahead of time, for native images. Not for use by applications. */
@NullMarked
package io.holdfast.spring.aot;

import org.jspecify.annotations.NullMarked;
