package io.holdfast.spi.support;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.IntPredicate;

/**
 * Writes lock names where some characters are not allowed: each of those becomes {@code %XX} of its UTF-8 bytes, everything
 * else stands for itself. Two names never become one, since the percent sign is always escaped. Immutable.
 */
public final class PercentEncoding {

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private final IntPredicate plain;

    /** @param plain which code points stand for themselves; the percent sign never does */
    public PercentEncoding(IntPredicate plain) {
        this.plain = plain;
    }

    public String encode(String name) {
        int firstEscape = 0;
        while (firstEscape < name.length() && isPlain(name.codePointAt(firstEscape))) {
            firstEscape += Character.charCount(name.codePointAt(firstEscape));
        }
        if (firstEscape == name.length()) {
            return name;
        }
        StringBuilder encoded = new StringBuilder(name.length() + 16).append(name, 0, firstEscape);
        name.substring(firstEscape).codePoints().forEach(c -> {
            if (isPlain(c)) {
                encoded.appendCodePoint(c);
            } else {
                escape(c, encoded);
            }
        });
        return encoded.toString();
    }

    /** The name that is encoded so; empty if no name is. */
    public Optional<String> decode(String encoded) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(encoded.length());
        int i = 0;
        while (i < encoded.length()) {
            int c = encoded.codePointAt(i);
            if (c != '%') {
                bytes.writeBytes(Character.toString(c).getBytes(StandardCharsets.UTF_8));
                i += Character.charCount(c);
            } else if (i + 2 < encoded.length()
                    && HexFormat.isHexDigit(encoded.charAt(i + 1))
                    && HexFormat.isHexDigit(encoded.charAt(i + 2))) {
                bytes.write(HexFormat.fromHexDigits(encoded, i + 1, i + 3));
                i += 3;
            } else {
                return Optional.empty();
            }
        }
        try {
            String name = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString();
            return encode(name).equals(encoded) ? Optional.of(name) : Optional.empty();
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    /** Appends one code point as escapes, for names that are special as a whole. */
    public static void escape(int codePoint, StringBuilder to) {
        for (byte b : Character.toString(codePoint).getBytes(StandardCharsets.UTF_8)) {
            to.append('%').append(HEX.toHexDigits(b));
        }
    }

    private boolean isPlain(int c) {
        return c != '%' && plain.test(c);
    }
}
