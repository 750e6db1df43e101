package io.holdfast.spi;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Who one acquisition is: 128 random bits of the client and a number never used twice.
 *
 * <p>Never made of host, process or thread: those repeat. Its text form is {@code <32 hex digits>-<number>}.
 *
 * @param client the client's random bits in hex
 * @param number which acquisition of that client
 */
public record OwnerId(String client, long number) {

    @Override
    public String toString() {
        return client + "-" + number;
    }

    /** Reads the text form back. */
    public static OwnerId parse(String text) {
        int dash = text.lastIndexOf('-');
        if (dash < 1) {
            throw new IllegalArgumentException("not an owner id: " + text);
        }
        return new OwnerId(text.substring(0, dash), Long.parseLong(text.substring(dash + 1)));
    }

    /** Mints the owner ids of one client. Thread-safe. */
    public static final class Source {

        private final String client;
        private final AtomicLong last = new AtomicLong();

        public Source() {
            byte[] bits = new byte[16];
            new SecureRandom().nextBytes(bits);
            client = HexFormat.of().formatHex(bits);
        }

        public String client() {
            return client;
        }

        public OwnerId next() {
            return new OwnerId(client, last.incrementAndGet());
        }
    }
}
