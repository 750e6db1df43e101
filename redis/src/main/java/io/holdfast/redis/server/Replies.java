package io.holdfast.redis.server;

import java.nio.charset.StandardCharsets;

/** Reads replies as Jedis leaves them: text as bytes. */
public final class Replies {

    private Replies() {}

    public static String text(Object part) {
        return part instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(part);
    }
}
