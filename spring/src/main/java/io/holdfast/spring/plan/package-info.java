/** What the annotations of a method ask for, read once: names of locks, options, fallbacks. Not for use by applications. */
@NullMarked
package io.holdfast.spring.plan;

import org.jspecify.annotations.NullMarked;
