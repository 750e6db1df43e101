package io.holdfast.zookeeper.tree;

import io.holdfast.Demand;
import io.holdfast.spi.Admission;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Who holds a lock and who is queued for it, in order, as one listing showed it. Immutable. */
public final class LockQueue {

    /** Where a listing comes near the 1 MiB that a ZooKeeper client accepts as one answer, at 59 bytes per node. */
    public static final int LONGEST = 15_000;

    private static final int MOST_BYTES = 1_000_000;

    private final List<QueuedNode> nodes;

    private LockQueue(List<QueuedNode> nodes) {
        this.nodes = nodes;
    }

    /** @param names of all nodes in the lock's directory, in any order */
    public static LockQueue of(List<String> names) {
        List<QueuedNode> nodes = new ArrayList<>(names.size());
        for (String name : names) {
            QueuedNode.parse(name).ifPresent(nodes::add);
        }
        if (!nodes.isEmpty()) {
            // Numbers wrap around: they are compared by distance, which is right while the queue is shorter than 2^31.
            int some = nodes.get(0).sequence();
            nodes.sort(Comparator.comparingInt((QueuedNode node) -> node.sequence() - some)
                    .thenComparing(QueuedNode::name));
        }
        return new LockQueue(List.copyOf(nodes));
    }

    /** Whether one node more could make the next listing too large to be read by anybody. */
    public static boolean isTooLong(List<String> names) {
        if (names.size() > LONGEST) {
            return true;
        }
        long bytes = 0;
        for (String name : names) {
            bytes += name.length() + Integer.BYTES;
        }
        return bytes > MOST_BYTES;
    }

    public List<QueuedNode> nodes() {
        return nodes;
    }

    /** How many are ahead of the node of that name; empty if it is not there. */
    public Optional<Integer> position(String name) {
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.get(i).name().equals(name)) {
                return Optional.of(i);
            }
        }
        return Optional.empty();
    }

    /** All nodes of one owner: more than one if an earlier session of it was given up and is not yet over. */
    public List<QueuedNode> of(String uuid) {
        return nodes.stream().filter(node -> NodeNames.isOf(uuid, node.name())).toList();
    }

    /** How many of the first hold the lock. */
    public int holders() {
        Admission admission = new Admission();
        int admitted = 0;
        while (admitted < nodes.size() && admission.admit(nodes.get(admitted).demand())) {
            admitted++;
        }
        return admitted;
    }

    /** Whether a newcomer with this demand would hold the lock at once. */
    public boolean wouldAdmit(Demand newcomer) {
        Admission admission = new Admission();
        return nodes.stream().allMatch(node -> admission.admit(node.demand())) && admission.admit(newcomer);
    }

    /**
     * Those ahead that all have to leave before the node at that position is admitted, the nearest last: for an exclusive one
     * all ahead, for a shared one those ahead that do not share. Permits depend on sums, so they have no such list.
     */
    public List<String> blockers(int position) {
        boolean shares = nodes.get(position).demand() instanceof Demand.Shared;
        return nodes.subList(0, position).stream()
                .filter(node -> !(shares && node.demand() instanceof Demand.Shared))
                .map(QueuedNode::name)
                .toList();
    }
}
