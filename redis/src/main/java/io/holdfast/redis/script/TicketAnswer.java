package io.holdfast.redis.script;

import io.holdfast.redis.server.Replies;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * What a script says of one ticket. Immutable.
 *
 * @param detail what the kind says it is
 */
public record TicketAnswer(Kind kind, Optional<String> detail) {

    /** What became of it. */
    public enum Kind {
        /** The detail is the token. */
        HELD,
        /** The detail is the time after which it should ask whether the holder is still there, if that is its part. */
        WAITING,
        /** The detail is the time until a holder may be gone. */
        REFUSED,
        /** There was too much to clear away at once. */
        AGAIN,
        GONE,
        /** An administrator took it away. */
        FORCED,
        /** The detail is the reason. */
        FAILED
    }

    static TicketAnswer of(Object reply) {
        String[] parts = Replies.text(reply).split(" ", 2);
        return new TicketAnswer(
                Kind.valueOf(parts[0].toUpperCase(Locale.ROOT)),
                parts.length > 1 ? Optional.of(parts[1]) : Optional.empty());
    }

    public long token() {
        return Long.parseLong(detail.orElseThrow());
    }

    public Optional<Duration> time() {
        return detail.map(Long::parseLong).map(Micros::duration);
    }
}
