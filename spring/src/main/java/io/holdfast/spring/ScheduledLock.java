package io.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Lets a job that is scheduled on every instance run on one of them: beside {@code @Scheduled}.
 *
 * <p>Asks for the lock once. If another instance has it, this run is skipped. The lease is renewed as long as the job runs; if it
 * is lost, the thread of the job is interrupted.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
public @interface ScheduledLock {

    /** @see #name */
    @AliasFor("name")
    String value() default "";

    /** The lock's name; empty: the bean's class and the method, of which several beans of one class share the lock. */
    @AliasFor("value")
    String name() default "";

    /**
     * How long the lock stays taken at least, so that a short job does not run again on an instance whose clock is behind.
     * {@code auto}: half the time between two runs, at most 30 s; where the store cannot do that, 0 with a warning.
     */
    String minHold() default "auto";

    /** After how long the job loses the lock; empty: never. */
    String maxHold() default "";

    /** Empty: the client's default. */
    String ttl() default "";

    OnLost onLost() default OnLost.INTERRUPT;

    /** The bean name or qualifier of the client; empty: the only one, or the primary one. */
    String client() default "";
}
