package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Where things lie in etcd: the ticket of a lock at {@code <prefix><name>/<lease hex>-<number>}, a session at
 * {@code <prefix>%session/<lease hex>}.
 *
 * <p>All keys below {@code <prefix><name>/} are tickets of that lock, whoever wrote them. So a slash inside a name is
 * escaped, else the tickets of {@code a/b} would stand in line for {@code a}; and so is the per cent sign, which keeps
 * escaped names apart from literal ones and no name can collide with {@code %session}. Immutable.
 */
final class Keys {

    private static final String SESSIONS = "%session/";

    private final String prefix;

    Keys(String prefix) {
        this.prefix = prefix;
    }

    /** The start of all keys of a lock. */
    ByteString line(String name) {
        return ByteString.copyFromUtf8(prefix + encode(name) + "/");
    }

    ByteString ticket(String name, String id) {
        return ByteString.copyFromUtf8(prefix + encode(name) + "/" + id);
    }

    ByteString session(long lease) {
        return ByteString.copyFromUtf8(prefix + SESSIONS + Long.toHexString(lease));
    }

    /** The start of all keys of locks whose name begins so. */
    ByteString namesBeginningWith(String namePrefix) {
        return ByteString.copyFromUtf8(prefix + encode(namePrefix));
    }

    /** The name of the lock a ticket's key belongs to; empty for keys that are no tickets. */
    Optional<String> lockOf(ByteString key) {
        String text = key.toStringUtf8();
        int end = text.indexOf('/', prefix.length());
        if (!text.startsWith(prefix) || end <= prefix.length() || text.startsWith(SESSIONS, prefix.length())) {
            return Optional.empty();
        }
        return decode(text.substring(prefix.length(), end));
    }

    /** The first key behind all keys that begin so. */
    static ByteString endOf(ByteString start) {
        byte[] bytes = start.toByteArray();
        for (int i = bytes.length - 1; i >= 0; i--) {
            if (bytes[i] != (byte) 0xff) {
                bytes[i]++;
                return ByteString.copyFrom(bytes, 0, i + 1);
            }
        }
        // Nothing is behind: etcd reads a single zero byte as "to the end".
        return ByteString.copyFrom(new byte[1]);
    }

    private static String encode(String name) {
        return name.replace("%", "%25").replace("/", "%2F");
    }

    private static Optional<String> decode(String encoded) {
        try {
            return Optional.of(URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
