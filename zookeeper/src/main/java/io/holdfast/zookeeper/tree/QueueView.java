package io.holdfast.zookeeper.tree;

import io.holdfast.Demand;
import io.holdfast.spi.Admission;
import io.holdfast.spi.support.FarAhead;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
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

    /** Foreign clients may go on when numbers are used up: negative ones come last. */
    private static final Comparator<QueuedNode> ORDER = Comparator.<QueuedNode>comparingInt(
                    node -> node.sequence() + Integer.MIN_VALUE)
            .thenComparing(QueuedNode::name);

    private final NavigableSet<QueuedNode> nodes = new TreeSet<>(ORDER);
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
            QueuedNode.parse(name).ifPresent(queue.nodes::add);
            queue.bytes += size(name);
        }
        return queue;
    }

    /** A child of the directory was made. */
    public void created(String name) {
        version++;
        bytes += size(name);
        QueuedNode.parse(name).ifPresent(node -> {
            nodes.add(node);
            if (node.sequence() == next) {
                next++;
            }
        });
    }

    /** A child of the directory was deleted. */
    public void deleted(String name) {
        version++;
        bytes -= size(name);
        QueuedNode.parse(name).ifPresent(nodes::remove);
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

    public boolean contains(String name) {
        return QueuedNode.parse(name).filter(nodes::contains).isPresent();
    }

    /** Whether it is there, and everybody ahead of it who is there too is known. */
    public boolean covers(String name) {
        return QueuedNode.parse(name)
                .filter(node -> Integer.compareUnsigned(node.sequence(), next) < 0 && nodes.contains(node))
                .isPresent();
    }

    /** The number ZooKeeper gave to a node of ours. */
    public static int number(String name) {
        return QueuedNode.parse(name).orElseThrow().sequence();
    }

    /** Whether it is ahead of all others. */
    public boolean isFirst(String name) {
        return !nodes.isEmpty() && nodes.first().name().equals(name);
    }

    /** Whether no other node gets its number: the servers stop counting at the largest, and give that to all who come. */
    public static boolean isNumberedForItself(String name) {
        return QueuedNode.parse(name)
                .filter(node -> node.sequence() >= 0 && node.sequence() < Integer.MAX_VALUE)
                .isPresent();
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

    /** Whether the node of that name is there and holds the lock. */
    public boolean admits(String name) {
        return !admitted(Set.of(name)).isEmpty();
    }

    /** Which of these hold the lock. */
    public List<String> admitted(Set<String> names) {
        List<String> admitted = new ArrayList<>();
        Admission admission = new Admission();
        for (QueuedNode node : nodes) {
            if (admitted.size() == names.size() || !admission.admit(node.demand())) {
                break;
            }
            if (names.contains(node.name())) {
                admitted.add(node.name());
            }
        }
        return admitted;
    }

    /** Whether a newcomer with this demand would hold the lock at once. */
    public boolean wouldAdmit(Demand newcomer) {
        Admission admission = new Admission();
        return nodes.stream().allMatch(node -> admission.admit(node.demand())) && admission.admit(newcomer);
    }

    /** A node to watch for somebody far behind it; see {@link FarAhead}. */
    public record Ahead(QueuedNode node, boolean mustLeave) {}

    /** What to watch for the first of these with so many waiting ahead of it; empty if there are fewer, or none of these is there. */
    public Optional<Ahead> farAhead(int distance, Set<String> names) {
        List<QueuedNode> ahead = new ArrayList<>();
        for (QueuedNode node : nodes) {
            if (names.contains(node.name())) {
                List<Demand> demands = ahead.stream().map(QueuedNode::demand).toList();
                return FarAhead.of(node.demand(), demands, distance)
                        .map(found -> new Ahead(ahead.get(found.place()), found.mustLeave()));
            }
            ahead.add(node);
        }
        return Optional.empty();
    }

    private static int size(String name) {
        return name.length() + Integer.BYTES;
    }
}
