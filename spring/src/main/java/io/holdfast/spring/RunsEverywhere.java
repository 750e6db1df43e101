package io.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Says that a {@code @Scheduled} method is meant to run on every instance, so needs no {@link ScheduledLock}: for readers, and for
 * the rule in {@code holdfast-spring-boot-starter-test} that finds jobs whose lock was forgotten.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface RunsEverywhere {

    /** Why, for readers: {@code "empties a cache of this instance"}. */
    String value() default "";
}
