package io.holdfast.zookeeper.tree;

import java.util.List;
import org.apache.zookeeper.data.ACL;

/**
 * Where a store's locks live in ZooKeeper's tree.
 *
 * @param root the directory of all locks, without a slash at its end; empty for the top of the tree
 * @param acl who may see and remove the nodes we make
 * @param layout how nodes are named
 */
public record LockTree(String root, List<ACL> acl, Layout layout) {

    /** The directory of all locks, as one asks for it. */
    public String top() {
        return root.isEmpty() ? "/" : root;
    }

    public String directory(String lock) {
        return root + "/" + NodeNames.directory(lock);
    }

    /** A path at which nothing is ever stored. */
    public String emptyPath() {
        return root + "/" + NodeNames.NO_LOCK;
    }
}
