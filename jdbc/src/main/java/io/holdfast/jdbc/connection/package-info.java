/**
 * Borrowed connections whose statements are over by a deadline, whatever pool, driver and server do meanwhile. Requests take turns,
 * and renewals pass them by. Knows nothing of locks.
 */
@NullMarked
package io.holdfast.jdbc.connection;

import org.jspecify.annotations.NullMarked;
