package io.holdfast.jdbc;

import java.nio.charset.StandardCharsets;

/**
 * Turns a result into bytes to be recorded, and back. Implementations are thread-safe.
 *
 * @param <T> what is recorded
 */
public interface ResultCodec<T> {

    /** Never asked about null, which is recorded as such. */
    byte[] encode(T result);

    T decode(byte[] recorded);

    /** Text as UTF-8. */
    static ResultCodec<String> strings() {
        return new ResultCodec<>() {
            @Override
            public byte[] encode(String result) {
                return result.getBytes(StandardCharsets.UTF_8);
            }

            @Override
            public String decode(byte[] recorded) {
                return new String(recorded, StandardCharsets.UTF_8);
            }
        };
    }

    /** Bytes as they are. */
    static ResultCodec<byte[]> bytes() {
        return new ResultCodec<>() {
            @Override
            public byte[] encode(byte[] result) {
                return result.clone();
            }

            @Override
            public byte[] decode(byte[] recorded) {
                return recorded.clone();
            }
        };
    }
}
