/**
 * Locks of other libraries, kept in a Holdfast store: {@link io.holdfast.spring.adapter.HoldfastLockProvider} for ShedLock,
 * {@link io.holdfast.spring.adapter.HoldfastLockRegistry} for Spring Integration.
 */
@NullMarked
package io.holdfast.spring.adapter;

import org.jspecify.annotations.NullMarked;
