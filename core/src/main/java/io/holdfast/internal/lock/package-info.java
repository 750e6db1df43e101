/**
 * The kinds of locks users ask for: plain, read-write, semaphores, several at once, elections, re-entrant views.
 * Each is a thin handle over acquisitions and leases.
 * Start at {@link io.holdfast.internal.lock.LockHandle}.
 */
@NullMarked
package io.holdfast.internal.lock;

import org.jspecify.annotations.NullMarked;
