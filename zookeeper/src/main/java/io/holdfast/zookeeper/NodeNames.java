package io.holdfast.zookeeper;

import io.holdfast.Demand;
import io.holdfast.spi.OwnerId;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.UUID;

/**
 * How locks and the places in their lines are named in ZooKeeper's tree.
 *
 * <p>A lock is a directory: its name, with what ZooKeeper does not allow in a path percent-escaped, so that a plain name is
 * itself. A place is a node {@code _c_<uuid>-lock-<sequence>} in it, as Curator's {@code InterProcessMutex} makes them: the
 * uuid says whose it is even if the answer to its creation was lost. What is not exclusive says so before {@code lock-}.
 */
final class NodeNames {

    /** A name no lock can have, because a percent sign is always followed by two digits. Nothing is ever stored there. */
    static final String BEACON = "%";

    private static final String HEX = "0123456789ABCDEF";
    private static final String PROTECTED = "_c_";

    private NodeNames() {}

    static String directory(String lock) {
        if (lock.equals(".") || lock.equals("..")) {
            return lock.replace(".", "%2E");
        }
        if (lock.equals("zookeeper")) {
            // The server's own directory, should locks live at the top of the tree.
            return "%7Aookeeper";
        }
        StringBuilder escaped = new StringBuilder(lock.length() + 16);
        lock.codePoints().forEach(c -> {
            if (isPlain(c)) {
                escaped.appendCodePoint(c);
            } else {
                escape(escaped, c);
            }
        });
        return escaped.toString();
    }

    /** Empty if no lock has this directory. */
    static Optional<String> lock(String directory) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(directory.length());
        for (int i = 0; i < directory.length(); ) {
            int c = directory.codePointAt(i);
            if (c != '%') {
                bytes.writeBytes(Character.toString(c).getBytes(StandardCharsets.UTF_8));
                i += Character.charCount(c);
                continue;
            }
            if (i + 3 > directory.length()) {
                return Optional.empty();
            }
            int high = HEX.indexOf(directory.charAt(i + 1));
            int low = HEX.indexOf(directory.charAt(i + 2));
            if (high < 0 || low < 0) {
                return Optional.empty();
            }
            bytes.write(high * 16 + low);
            i += 3;
        }
        try {
            String lock = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString();
            return !lock.isEmpty() && directory(lock).equals(directory) ? Optional.of(lock) : Optional.empty();
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    /** The same for the same owner, so that its node can be found again by anyone who knows the owner. */
    static String uuid(OwnerId owner) {
        return UUID.nameUUIDFromBytes(owner.toString().getBytes(StandardCharsets.UTF_8))
                .toString();
    }

    /** What the node of that owner is called before ZooKeeper adds the sequence number. */
    static String node(String uuid, Demand demand, Layout layout) {
        return PROTECTED + uuid + "-" + layout.marker(demand);
    }

    static boolean isOf(String uuid, String node) {
        return node.startsWith(PROTECTED + uuid + "-");
    }

    private static boolean isPlain(int c) {
        return c >= 0x20
                && c != '/'
                && c != '%'
                && !(c >= 0x7f && c <= 0x9f)
                && !(c >= 0xd800 && c <= 0xf8ff)
                && c < 0xfff0;
    }

    private static void escape(StringBuilder escaped, int codePoint) {
        for (byte b : Character.toString(codePoint).getBytes(StandardCharsets.UTF_8)) {
            escaped.append('%').append(HEX.charAt(b >> 4 & 15)).append(HEX.charAt(b & 15));
        }
    }
}
