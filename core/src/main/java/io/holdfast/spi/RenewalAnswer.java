package io.holdfast.spi;

import io.holdfast.LockException;
import java.time.Duration;

/** What a store says to one {@link RenewalRequest}. */
public sealed interface RenewalAnswer {

    /**
     * The claim is kept.
     *
     * @param baseNanos {@code nanoTime} just before the extending request was sent
     * @param ttl the ttl the store really gives
     */
    record Extended(long baseNanos, Duration ttl) implements RenewalAnswer {}

    /** The claim is no more. */
    record Gone(String reason) implements RenewalAnswer {}

    /** This claim's renewal failed or was not answered, while others of the batch may have gone well. */
    record Unsettled(LockException cause) implements RenewalAnswer {}
}
