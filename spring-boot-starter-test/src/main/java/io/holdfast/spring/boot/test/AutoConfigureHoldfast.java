package io.holdfast.spring.boot.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Gives a test's application context locks in memory instead of its store, and the test a bean of type
 * {@link io.holdfast.testing.TestLocks}: {@code takenByOther}, {@code lose}, {@code storeDown}, and a clock to move ahead.
 *
 * <p>A context is shared by tests that use the same configuration, and so are its locks; a test that leaves a lease open fails.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ImportAutoConfiguration
public @interface AutoConfigureHoldfast {}
