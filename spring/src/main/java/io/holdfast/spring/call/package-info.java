/**
 * Runs locked methods: takes the lock, calls the method, releases the lock; without waiting threads for methods that return a
 * stage. Not for use by applications.
 */
@NullMarked
package io.holdfast.spring.call;

import org.jspecify.annotations.NullMarked;
