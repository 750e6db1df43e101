package io.holdfast.zookeeper.ticket;

import io.holdfast.zookeeper.session.AsyncZooKeeper.Created;
import io.holdfast.zookeeper.tree.QueuedNode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The last node of ours that was the first of its queue, for each directory: it tells whether the next one is too. Thread-safe. */
final class LastTurns {

    /*
     * A lock that one client takes again and again needs no listing. ZooKeeper numbers all children of a directory without a
     * gap, so once our node was the first of the queue and is deleted, all up to its number are gone. The next node we
     * make there has the next number: nobody came between, so it is the first and holds the lock, whatever it asks for.
     *
     * But for one thing: the servers remove an empty directory, as it is between two nodes of ours, and one made anew counts from
     * zero. For our next node to get number n there, others must have made n nodes in it after our last one. Each of
     * them took a transaction, so if there were not that many between our two nodes the directory is the same. Nodes are
     * known by their transaction too: what is told late of one in a former directory concerns no other.
     *
     * (A foreign client that makes many tickets in one transaction would break that. None does: it would queue behind itself.)
     *
     * A wrong guess costs a round trip, for then the listing comes after the node. So it is left out only if the last two
     * nodes came one after the other.
     */

    private record Turn(int number, long czxid, boolean second, boolean over) {

        boolean isFollowedBy(Created node) {
            int next = QueuedNode.ours(node.path()).sequence();
            return over && next == number + 1 && node.czxid() - czxid <= next;
        }
    }

    /** A name used once costs some memory until this many are known; then all are forgotten. */
    private static final int MOST_KNOWN = 10_000;

    private final Map<String, Turn> turns = new ConcurrentHashMap<>();

    /** Whether a node made now will probably be known to be the first. */
    boolean isNextExpected(String directory) {
        Turn last = turns.get(directory);
        return last != null && last.over && last.second;
    }

    /** Whether a node just made is surely the first. */
    boolean isNext(String directory, Created node) {
        Turn last = turns.get(directory);
        return last != null && last.isFollowedBy(node);
    }

    /** A node of ours is the first. */
    void begun(String directory, Created node) {
        if (turns.size() >= MOST_KNOWN) {
            turns.clear();
        }
        turns.compute(directory, (path, last) -> {
            boolean second = last != null && last.isFollowedBy(node);
            return new Turn(QueuedNode.ours(node.path()).sequence(), node.czxid(), second, false);
        });
    }

    /** A node of ours is gone. */
    void over(String directory, Created node) {
        turns.computeIfPresent(
                directory,
                (path, last) ->
                        last.czxid != node.czxid() ? last : new Turn(last.number, last.czxid, last.second, true));
    }

    /** Others use the lock too. */
    void disturbed(String directory) {
        turns.remove(directory);
    }
}
