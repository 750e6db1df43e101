/** Locks beside transactions: held until their end, and no commit without a valid lease. Not for use by applications. */
@NullMarked
package io.holdfast.spring.transaction;

import org.jspecify.annotations.NullMarked;
