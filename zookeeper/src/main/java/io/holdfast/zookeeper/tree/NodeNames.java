package io.holdfast.zookeeper.tree;

import io.holdfast.Demand;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.support.PercentEncoding;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * How locks and the tickets queued for them are named in ZooKeeper's tree.
 *
 * <p>A lock is a directory: its name, with what ZooKeeper does not allow in a path percent-escaped, so that a plain name is
 * itself. A ticket is a node {@code _c_<uuid>-lock-<sequence>} in it, as Curator's {@code InterProcessMutex} makes them: the
 * uuid says whose it is even if the answer to its creation was lost. What is not exclusive says so before {@code lock-}.
 */
public final class NodeNames {

    /** A name no lock can have, because a percent sign is always followed by two digits. Nothing is ever stored there. */
    static final String NO_LOCK = "%";

    private static final String PROTECTED = "_c_";

    /** What ZooKeeper allows in a path. */
    private static final PercentEncoding ENCODING = new PercentEncoding(
            c -> c >= 0x20 && c != '/' && !(c >= 0x7f && c <= 0x9f) && !(c >= 0xd800 && c <= 0xf8ff) && c < 0xfff0);

    /** Steps in a path, and the server's own directory, should locks live at the top of the tree. */
    private static final Map<String, String> RESERVED = Map.of(".", "%2E", "..", "%2E%2E", "zookeeper", "%7Aookeeper");

    private NodeNames() {}

    public static String directory(String lock) {
        String reserved = RESERVED.get(lock);
        return reserved != null ? reserved : ENCODING.encode(lock);
    }

    /** Empty if no lock has this directory. */
    public static Optional<String> lock(String directory) {
        Optional<String> reserved = RESERVED.keySet().stream()
                .filter(lock -> directory(lock).equals(directory))
                .findFirst();
        return reserved.or(() -> ENCODING.decode(directory))
                .filter(lock -> !lock.isEmpty() && directory(lock).equals(directory));
    }

    /** The same for the same owner, so that its node can be found again by anyone who knows the owner. */
    public static String uuid(OwnerId owner) {
        return UUID.nameUUIDFromBytes(owner.toString().getBytes(StandardCharsets.UTF_8))
                .toString();
    }

    /** What the node of that owner is called before ZooKeeper adds the sequence number. */
    public static String node(String uuid, Demand demand, Layout layout) {
        return PROTECTED + uuid + "-" + layout.marker(demand);
    }

    static boolean isOf(String uuid, String node) {
        return node.startsWith(PROTECTED + uuid + "-");
    }
}
