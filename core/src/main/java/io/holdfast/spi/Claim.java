package io.holdfast.spi;

import java.time.Duration;

/** Something a store keeps for us as long as it hears from us: a {@link Grant} held or a {@link Ticket} in line. */
public sealed interface Claim permits Grant, Ticket {

    Request request();

    /** The ttl the store really gives. */
    Duration ttl();

    /** {@code nanoTime} just before the request was sent by which the store last extended this. */
    long baseNanos();
}
