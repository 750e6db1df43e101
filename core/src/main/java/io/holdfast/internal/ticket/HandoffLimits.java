package io.holdfast.internal.ticket;

import java.time.Duration;

/**
 * How long a client may pass a grant on among its own threads before others get their turn.
 *
 * @param most how often
 * @param longest counted from the grant
 */
public record HandoffLimits(int most, Duration longest) {}
