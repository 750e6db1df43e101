/** Locks by annotation for Spring: {@link io.holdfast.spring.Locked}, {@link io.holdfast.spring.ScheduledLock}. */
@NullMarked
package io.holdfast.spring;

import org.jspecify.annotations.NullMarked;
