/** Locks in memory for tests of Spring Boot applications: {@link io.holdfast.spring.boot.test.AutoConfigureHoldfast}. */
@NullMarked
package io.holdfast.spring.boot.test;

import org.jspecify.annotations.NullMarked;
