package io.holdfast.zookeeper.tree;

import io.holdfast.Demand;
import io.holdfast.spi.Admission;
import io.holdfast.spi.support.FarAhead;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Who holds a lock and who is queued for it, in order: as one listing showed it, and as the events since then have changed it.
 *
 * <p>ZooKeeper gives every child of a directory the next number, whether or not it is part of its name. So it is known whether
 * all creations were heard of: those up to a number, if each had the number after the one before. That is not a matter of
 * course, for servers send no events of nodes one may not read. Not thread-safe.
 */
public final class QueueView {

    /** Where a listing comes near the 1 MiB that a ZooKeeper client accepts as one answer, at 59 bytes per node. */
    public static final int LONGEST = 15_000;

    private static final int MOST_BYTES = 1_000_000;

    private final NavigableSet<QueuedNode> nodes = new TreeSet<>();
    /** Of those the ones that do not share the lock. */
    private final NavigableSet<QueuedNode> unshared = new TreeSet<>();
    /** All nodes with smaller numbers were heard of. */
    private int next;

    private int version;
    private long bytes;

    private QueueView(int version, int size) {
        this.version = version;
        // As many as were made so far: what was made and is not there was deleted.
        this.next = (version + size) >>> 1;
    }

    /** @param names of all nodes in the lock's directory, in any order */
    public static QueueView of(List<String> names) {
        return of(names, 0);
    }

    /** @param version of the directory's children then, which grows by one with each creation and each deletion */
    public static QueueView of(List<String> names, int version) {
        QueueView queue = new QueueView(version, names.size());
        for (String name : names) {
            QueuedNode.parse(name).ifPresent(queue::add);
            queue.bytes += size(name);
        }
        return queue;
    }

    /** A child of the directory was made. */
    public void created(String name) {
        version++;
        bytes += size(name);
        QueuedNode.parse(name).ifPresent(node -> {
            add(node);
            if (node.sequence() == next) {
                next++;
            }
        });
    }

    /** A child of the directory was deleted: which place in the queue that was, if any. */
    public Optional<QueuedNode> deleted(String name) {
        version++;
        bytes -= size(name);
        Optional<QueuedNode> left = QueuedNode.parse(name);
        left.ifPresent(nodes::remove);
        left.ifPresent(unshared::remove);
        return left;
    }

    private void add(QueuedNode node) {
        nodes.add(node);
        if (!node.isShared()) {
            unshared.add(node);
        }
    }

    /** What the version of the directory's children must be if no event was lost. */
    public int version() {
        return version;
    }

    public int size() {
        return nodes.size();
    }

    public List<QueuedNode> nodes() {
        return List.copyOf(nodes);
    }

    public boolean contains(QueuedNode node) {
        return nodes.contains(node);
    }

    /** Whether it is there, and everybody ahead of it who is there too is known. */
    public boolean covers(QueuedNode node) {
        return Integer.compareUnsigned(node.sequence(), next) < 0 && nodes.contains(node);
    }

    /** Whether it is ahead of all others. */
    public boolean isFirst(QueuedNode node) {
        return !nodes.isEmpty() && nodes.first().equals(node);
    }

    /** Whether one node more could make the next listing too large to be read by anybody. */
    public boolean isTooLong() {
        return nodes.size() > LONGEST || bytes > MOST_BYTES;
    }

    /** All nodes of one owner: more than one if an earlier session of it was given up and is not yet over. */
    public List<QueuedNode> of(String uuid) {
        return nodes.stream().filter(node -> NodeNames.isOf(uuid, node.name())).toList();
    }

    /** The first ones, who hold the lock. */
    public List<QueuedNode> holders() {
        Admission admission = new Admission();
        return nodes.stream().takeWhile(node -> admission.admit(node.demand())).toList();
    }

    /** Whether it is there and holds the lock. Beside thousands who share the lock that takes no longer than beside ten. */
    public boolean admits(QueuedNode node) {
        if (!nodes.contains(node)) {
            return false;
        }
        if (nodes.first().isShared()) {
            return node.isShared() && unshared.headSet(node).isEmpty();
        }
        Admission admission = new Admission();
        for (QueuedNode each : nodes.headSet(node, true)) {
            if (!admission.admit(each.demand())) {
                return false;
            }
        }
        return true;
    }

    /** Which of these hold the lock. */
    public List<QueuedNode> admitted(SortedSet<QueuedNode> those) {
        List<QueuedNode> admitted = new ArrayList<>();
        if (!nodes.isEmpty() && nodes.first().isShared()) {
            for (QueuedNode node : unshared.isEmpty() ? those : those.headSet(unshared.first())) {
                if (nodes.contains(node)) {
                    admitted.add(node);
                }
            }
            return admitted;
        }
        Admission admission = new Admission();
        for (QueuedNode node : nodes) {
            if (admitted.size() == those.size() || !admission.admit(node.demand())) {
                break;
            }
            if (those.contains(node)) {
                admitted.add(node);
            }
        }
        return admitted;
    }

    /** Whether a newcomer with this demand would hold the lock at once. */
    public boolean wouldAdmit(Demand newcomer) {
        Admission admission = new Admission();
        return nodes.stream().allMatch(node -> admission.admit(node.demand())) && admission.admit(newcomer);
    }

    /**
     * A node to watch for somebody far behind it; see {@link FarAhead}.
     *
     * @param waiter for whom
     */
    public record Ahead(QueuedNode node, boolean mustLeave, QueuedNode waiter) {}

    /** What to watch for the first of these with so many waiting ahead of it; empty if there are fewer, or none of these is there. */
    public Optional<Ahead> farAhead(int distance, SortedSet<QueuedNode> those) {
        return those.stream().filter(nodes::contains).findFirst().flatMap(first -> {
            List<QueuedNode> ahead = List.copyOf(nodes.headSet(first));
            List<Demand> demands = ahead.stream().map(QueuedNode::demand).toList();
            return FarAhead.of(first.demand(), demands, distance)
                    .map(found -> new Ahead(ahead.get(found.place()), found.mustLeave(), first));
        });
    }

    private static int size(String name) {
        return name.length() + Integer.BYTES;
    }
}
