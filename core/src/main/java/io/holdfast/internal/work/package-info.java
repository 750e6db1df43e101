/**
 * A client's threads and what runs on them: the timer, executors, users' callbacks, and the client's life cycle.
 * Knows nothing of locks.
 * Start at {@link io.holdfast.internal.work.ClientThreads}.
 */
@NullMarked
package io.holdfast.internal.work;

import org.jspecify.annotations.NullMarked;
