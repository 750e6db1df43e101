/** What calls and threads hold. Not for use by applications. */
@NullMarked
package io.holdfast.spring.held;

import org.jspecify.annotations.NullMarked;
