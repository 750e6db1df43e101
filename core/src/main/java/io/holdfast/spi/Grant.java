package io.holdfast.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A store's word that a request holds its lock.
 *
 * @param request what was granted
 * @param token the store's fencing token, positive and below 2^53
 * @param ttl the ttl the store really gives
 * @param baseNanos {@code nanoTime} just before the request was sent by which the store last extended this lease or the
 *     ticket it grew from. Never the time of a reply or a push: it may have sat in a socket through a long pause
 * @param handle whatever the store needs to find it again
 */
public record Grant(
        Request request,
        long token,
        Duration ttl,
        long baseNanos,
        @Nullable Object handle) implements Claim {

    private static final long TOKEN_LIMIT = 1L << 53;

    public Grant {
        if (token < 1 || token >= TOKEN_LIMIT) {
            throw new IllegalArgumentException(
                    "store token " + token + " of lock '" + request.name() + "' is outside 1..2^53");
        }
    }

    public Grant(Request request, long token, Duration ttl, long baseNanos) {
        this(request, token, ttl, baseNanos, null);
    }
}
