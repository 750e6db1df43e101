package io.holdfast.zookeeper.tree;

import io.holdfast.Demand;
import io.holdfast.spi.Admission;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Who holds a lock and who is queued for it, in order: as one listing showed it, and as the events since then have changed it.
 *
 * <p>ZooKeeper gives every child of a directory the next number, whether or not it is part of its name. So it is known whether
 * all creations were heard of: those up to a number, if each had the number after the one before. That is not a matter of
 * course, for servers send no events of nodes one may not read. Not thread-safe.
 */
public final class LockQueue {

    /** Where a listing comes near the 1 MiB that a ZooKeeper client accepts as one answer, at 59 bytes per node. */
    public static final int LONGEST = 15_000;

    private static final int MOST_BYTES = 1_000_000;

    /** @param number not wrapped around: numbers in names become negative after 2^31 tickets */
    private record Place(long number, String name) implements Comparable<Place> {

        @Override
        public int compareTo(Place other) {
            int order = Long.compare(number, other.number);
            return order != 0 ? order : name.compareTo(other.name);
        }
    }

    private final NavigableMap<Place, QueuedNode> nodes = new TreeMap<>();
    /** All nodes with a number up to this were heard of. An empty directory that was just made begins with 0. */
    private long known = -1;

    private int version;
    private long bytes;

    private LockQueue(int version) {
        this.version = version;
    }

    /** @param names of all nodes in the lock's directory, in any order */
    public static LockQueue of(List<String> names) {
        return of(names, 0);
    }

    /** @param version of the directory's children then, which grows by one with each creation and each deletion */
    public static LockQueue of(List<String> names, int version) {
        LockQueue queue = new LockQueue(version);
        List<QueuedNode> parsed = new ArrayList<>(names.size());
        for (String name : names) {
            QueuedNode.parse(name).ifPresent(parsed::add);
            queue.bytes += size(name);
        }
        if (!parsed.isEmpty()) {
            queue.known = parsed.get(0).sequence();
            parsed.forEach(node -> queue.nodes.put(queue.place(node), node));
            // Numbers only grow: whoever is not listed and has a smaller one has left.
            queue.known = queue.nodes.lastKey().number();
        }
        return queue;
    }

    /** A child of the directory was made. */
    public void created(String name) {
        version++;
        bytes += size(name);
        QueuedNode.parse(name).ifPresent(node -> {
            Place place = place(node);
            nodes.put(place, node);
            if (place.number() == known + 1) {
                known++;
            }
        });
    }

    /** A child of the directory was deleted. */
    public void deleted(String name) {
        version++;
        bytes -= size(name);
        QueuedNode.parse(name).ifPresent(node -> nodes.remove(place(node)));
    }

    /** What the version of the directory's children must be if no event was lost. */
    public int version() {
        return version;
    }

    public int size() {
        return nodes.size();
    }

    public List<QueuedNode> nodes() {
        return List.copyOf(nodes.values());
    }

    public boolean contains(String name) {
        return QueuedNode.parse(name)
                .filter(node -> nodes.containsKey(place(node)))
                .isPresent();
    }

    /** Whether it is there, and everybody ahead of it who is there too is known. */
    public boolean covers(String name) {
        return QueuedNode.parse(name)
                .map(this::place)
                .filter(place -> place.number() <= known && nodes.containsKey(place))
                .isPresent();
    }

    /** Whether one node more could make the next listing too large to be read by anybody. */
    public boolean isTooLong() {
        return nodes.size() > LONGEST || bytes > MOST_BYTES;
    }

    /** All nodes of one owner: more than one if an earlier session of it was given up and is not yet over. */
    public List<QueuedNode> of(String uuid) {
        return nodes.values().stream()
                .filter(node -> NodeNames.isOf(uuid, node.name()))
                .toList();
    }

    /** The first ones, who hold the lock. */
    public List<QueuedNode> holders() {
        Admission admission = new Admission();
        return nodes.values().stream()
                .takeWhile(node -> admission.admit(node.demand()))
                .toList();
    }

    /** Whether the node of that name is there and holds the lock. */
    public boolean admits(String name) {
        return !admitted(Set.of(name)).isEmpty();
    }

    /** Which of these hold the lock. */
    public List<String> admitted(Set<String> names) {
        List<String> admitted = new ArrayList<>();
        Admission admission = new Admission();
        for (QueuedNode node : nodes.values()) {
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
        return nodes.values().stream().allMatch(node -> admission.admit(node.demand())) && admission.admit(newcomer);
    }

    /** Who is that many ahead of the first of these; empty if fewer are ahead of it, or none of these is there. */
    public Optional<QueuedNode> ahead(int distance, Set<String> names) {
        List<QueuedNode> before = new ArrayList<>();
        for (QueuedNode node : nodes.values()) {
            if (names.contains(node.name())) {
                return before.size() < distance ? Optional.empty() : Optional.of(before.get(before.size() - distance));
            }
            before.add(node);
        }
        return Optional.empty();
    }

    private Place place(QueuedNode node) {
        // Numbers are compared by distance, which is right while a queue is shorter than 2^31.
        return new Place(known + (node.sequence() - (int) known), node.name());
    }

    private static int size(String name) {
        return name.length() + Integer.BYTES;
    }
}
