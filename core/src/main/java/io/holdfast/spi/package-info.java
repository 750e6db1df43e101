/** What a store implements. Start at {@link io.holdfast.spi.LockStore}; users of locks need nothing from here. */
@NullMarked
package io.holdfast.spi;

import org.jspecify.annotations.NullMarked;
