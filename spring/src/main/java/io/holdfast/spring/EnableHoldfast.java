package io.holdfast.spring;

import io.holdfast.spring.config.HoldfastLocking;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Import;

/**
 * Makes {@link Locked} and {@link ScheduledLock} work, with a bean of type {@link io.holdfast.Holdfast}. Not needed with the Spring
 * Boot starter.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@Import(HoldfastLocking.class)
public @interface EnableHoldfast {}
