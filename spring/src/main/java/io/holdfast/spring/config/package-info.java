/** Puts the other packages together. Not for use by applications. */
@NullMarked
package io.holdfast.spring.config;

import org.jspecify.annotations.NullMarked;
