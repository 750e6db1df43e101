package io.holdfast.spring;

import io.holdfast.Fairness;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method of a bean while a lock is held.
 *
 * <pre>{@code
 * @Locked(name = "stock/#{#order.sku}", maxWait = "2s", onConflict = OnConflict.FALLBACK, fallback = "soldOut")
 * Receipt deduct(Order order, Lease lease) { … }
 *
 * Receipt soldOut(Order order) { … }
 * }</pre>
 *
 * <p>A parameter of type {@link io.holdfast.Lease} is filled in, whatever the caller passed; elsewhere {@link CurrentLease} has it.
 * A method that is called inside another one with the same lock goes on under the lease of that one. A method that returns a
 * {@link java.util.concurrent.CompletionStage} holds the lock until the stage has completed, and its caller does not wait.
 *
 * <p>The lock is taken before a transaction of the method begins, and released after it ended. In a transaction that is open
 * already it is released when that has ended. If the lease is lost before the commit, the transaction is rolled back.
 *
 * <p>Only calls through the bean are locked: a method that calls another one of its own object goes past the lock. Where that
 * matters, begin the method with {@link CurrentLease#require()}.
 *
 * <p>All texts may have placeholders such as <code>${shop.wait}</code>. Durations are written {@code 250ms}, {@code 2s},
 * {@code 1h30m} or as ISO-8601.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
public @interface Locked {

    /** @see #name */
    @AliasFor("name")
    String[] value() default {};

    /**
     * The lock's name: a SpEL template that knows the parameters by their names and other beans, as in
     * {@code stock/#{#order.sku}}. A null in it is an error. With several names, all of these locks or none.
     */
    @AliasFor("value")
    String[] name() default {};

    /** How long to wait for the lock at most; empty: as long as it takes; 0: ask once. */
    String maxWait() default "";

    /** What to do if the lock could not be had in that time. */
    OnConflict onConflict() default OnConflict.THROW;

    /**
     * The method of the same class to call instead, for {@link OnConflict#FALLBACK}: with the same parameters, but those of
     * type {@code Lease}, and optionally a {@link LockConflictException} as the last one.
     */
    String fallback() default "";

    /** What to do if the lease is lost while the method runs. */
    OnLost onLost() default OnLost.INTERRUPT;

    Mode mode() default Mode.EXCLUSIVE;

    /** How many of the permits to take. Only with {@link #of}. */
    int permits() default 1;

    /** How many permits there are in all; 0: an ordinary lock. */
    int of() default 0;

    /** As {@link io.holdfast.LockOptions#withTtl}; empty: the client's default. */
    String ttl() default "";

    /** As {@link io.holdfast.LockOptions#withMinHold}; empty: the client's default. */
    String minHold() default "";

    /** As {@link io.holdfast.LockOptions#withMaxHold}; empty: the client's default. */
    String maxHold() default "";

    Fairness fairness() default Fairness.BALANCED;

    /**
     * Whether to check the token in the database, by {@code io.holdfast.jdbc.Fence} with the lock's name as the resource, before
     * the method runs in its transaction. For one exclusive lock only.
     */
    boolean fence() default false;

    /** The bean name or qualifier of the client; empty: the only one, or the primary one. */
    String client() default "";

    /** How the lock is held. */
    enum Mode {
        /** Alone. */
        EXCLUSIVE,
        /** Together with others who hold it shared. */
        SHARED
    }
}
