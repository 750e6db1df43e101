package io.holdfast.zookeeper;

import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.data.ACL;

/**
 * How a store uses ZooKeeper.
 *
 * @param store its name for people, without credentials
 * @param connector where sessions come from
 * @param root the directory of all locks, without a slash at its end; empty for the top of the tree
 * @param tick the servers' {@code tickTime}, or more
 * @param acl who may see and remove the nodes we make
 * @param layout how nodes are named
 */
record Settings(String store, Connector connector, String root, Duration tick, List<ACL> acl, Layout layout) {

    String directory(String lock) {
        return root + "/" + NodeNames.directory(lock);
    }

    /** A path at which nothing is ever stored. */
    String beacon() {
        return root + "/" + NodeNames.BEACON;
    }
}
