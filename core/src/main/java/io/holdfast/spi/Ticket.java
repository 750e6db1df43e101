package io.holdfast.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A place in a lock's queue, kept by heartbeats.
 *
 * @param request what waits
 * @param ttl how long the place is kept without a heartbeat
 * @param baseNanos {@code nanoTime} just before the request was sent that took the place
 * @param handle whatever the store needs to find it again
 */
public record Ticket(
        Request request,
        Duration ttl,
        long baseNanos,
        @Nullable Object handle) implements Claim {

    public Ticket(Request request, Duration ttl, long baseNanos) {
        this(request, ttl, baseNanos, null);
    }
}
