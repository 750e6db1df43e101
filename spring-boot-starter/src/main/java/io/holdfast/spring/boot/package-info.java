/** Holdfast in Spring Boot: a client from {@code holdfast.store}, locks by annotation, health, an endpoint, metrics. */
@NullMarked
package io.holdfast.spring.boot;

import org.jspecify.annotations.NullMarked;
