package io.holdfast.redis.channel;

import io.holdfast.spi.OwnerId;

/**
 * What a script published to us: {@code kind owner number key}. Immutable.
 *
 * @param kind granted, watch or forced
 * @param owner whom it is about
 * @param number the token, or the microseconds until a holder may be gone
 * @param key the lock key
 */
public record Message(String kind, OwnerId owner, long number, String key) {

    static Message parse(String text) {
        String[] parts = text.split(" ", 4);
        if (parts.length < 4) {
            throw new IllegalArgumentException("not a message of ours: " + text);
        }
        return new Message(parts[0], OwnerId.parse(parts[1]), Long.parseLong(parts[2]), parts[3]);
    }
}
