package io.holdfast.spi;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** What may be the name of a lock: non-empty text of at most 512 UTF-8 bytes without NUL. */
public final class LockNames {

    public static final int MAX_BYTES = 512;

    private LockNames() {}

    /** Returns the name, or throws {@link IllegalArgumentException} saying what is wrong with it. */
    public static String require(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a lock name must not be empty");
        }
        if (name.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("a lock name must not contain NUL");
        }
        if (name.length() > MAX_BYTES || utf8Length(name) > MAX_BYTES) {
            throw new IllegalArgumentException(
                    "a lock name may have at most " + MAX_BYTES + " UTF-8 bytes: " + name.substring(0, 40) + "…");
        }
        return name;
    }

    private static int utf8Length(String name) {
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(name));
            return bytes.remaining();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("a lock name must be valid Unicode", e);
        }
    }
}
