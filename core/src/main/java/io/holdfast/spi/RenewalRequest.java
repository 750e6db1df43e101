package io.holdfast.spi;

import java.time.Duration;

/**
 * Asks to keep a claim.
 *
 * @param claim what to keep
 * @param ttl for how long from now on, at least: a store never shortens
 */
public record RenewalRequest(Claim claim, Duration ttl) {}
