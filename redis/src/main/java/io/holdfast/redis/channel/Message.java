package io.holdfast.redis.channel;

import io.holdfast.spi.OwnerId;

/**
 * What a script published to us: {@code kind owner number key}. Immutable.
 *
 * @param kind granted, watch or forced
 * @param scriptOwner whom it is about, as scripts know it
 * @param number the token, or the microseconds until a holder may be gone
 * @param key the lock key
 */
public record Message(String kind, String scriptOwner, long number, String key) {

    /** What a ticket's client reads when it is let in. */
    public static Message granted(String scriptOwner, long token, String key) {
        return new Message("granted", scriptOwner, token, key);
    }

    static Message parse(String text) {
        String[] parts = text.split(" ", 4);
        if (parts.length < 4) {
            throw new IllegalArgumentException("not a message of ours: " + text);
        }
        Message message = new Message(parts[0], parts[1], Long.parseLong(parts[2]), parts[3]);
        message.owner();
        return message;
    }

    /** Whom it is about; scripts know owners of permits by more than that. */
    public OwnerId owner() {
        int permits = scriptOwner.indexOf('/');
        return OwnerId.parse(permits < 0 ? scriptOwner : scriptOwner.substring(0, permits));
    }
}
