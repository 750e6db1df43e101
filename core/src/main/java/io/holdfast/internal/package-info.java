/** The engine: gate, acquisition, lease, keeper. Not API. */
@NullMarked
package io.holdfast.internal;

import org.jspecify.annotations.NullMarked;
