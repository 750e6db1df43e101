package io.holdfast.zookeeper.tree;

import io.holdfast.Demand;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One node in a lock's queue, ours or foreign.
 *
 * @param name without its directory
 * @param sequence the number ZooKeeper gave it
 * @param demand what it asks for; a foreign node that does not say it shares asks for the lock alone
 */
public record QueuedNode(String name, int sequence, Demand demand) implements Comparable<QueuedNode> {

    /** What stands before the number: ours, Curator's, and kazoo's. The number is read after it, sign and all. */
    private static final List<String> MARKERS = List.of("lock-", "__WRIT__", "__READ__", "__rlock__", "__lock__");

    private static final List<String> SHARED = List.of("read-lock-", "__READ__", "__rlock__");
    private static final Pattern PERMITS = Pattern.compile("-(\\d{1,10})of(\\d{1,10})-lock-$");
    private static final int DIGITS = 10;

    /** Foreign clients may go on when numbers are used up: negative ones come last. */
    private static final Comparator<QueuedNode> ORDER = Comparator.<QueuedNode>comparingInt(
                    node -> node.sequence() + Integer.MIN_VALUE)
            .thenComparing(QueuedNode::name);

    /** A node of ours, by its name or its path: it has a number. */
    public static QueuedNode ours(String name) {
        return parse(name).orElseThrow();
    }

    /** Empty for a node without a number: it is in nobody's queue. */
    static Optional<QueuedNode> parse(String name) {
        for (String marker : MARKERS) {
            int at = name.lastIndexOf(marker);
            if (at >= 0) {
                int number = at + marker.length();
                Optional<Integer> sequence = number(name.substring(number));
                if (sequence.isPresent()) {
                    return Optional.of(new QueuedNode(name, sequence.get(), demand(name.substring(0, number))));
                }
            }
        }
        return number(name.substring(Math.max(0, name.length() - DIGITS)))
                .filter(sequence -> name.length() >= DIGITS)
                .map(sequence -> new QueuedNode(name, sequence, Demand.exclusive()));
    }

    /** Whether no other node gets its number: the servers stop counting at the largest, and give that to all who come. */
    public boolean isNumberedForItself() {
        return sequence >= 0 && sequence < Integer.MAX_VALUE;
    }

    boolean isShared() {
        return demand instanceof Demand.Shared;
    }

    /** In the order of the queue. */
    @Override
    public int compareTo(QueuedNode other) {
        return ORDER.compare(this, other);
    }

    private static Optional<Integer> number(String text) {
        if (text.length() < DIGITS) {
            return Optional.empty();
        }
        try {
            return Optional.of(Integer.valueOf(text));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static Demand demand(String kind) {
        for (String shared : SHARED) {
            if (kind.endsWith(shared)) {
                return Demand.shared();
            }
        }
        // Nearly all are exclusive: they need no pattern to be told apart.
        Matcher permits = kind.contains("of") ? PERMITS.matcher(kind) : null;
        if (permits != null && permits.find()) {
            try {
                return Demand.permits(Integer.parseInt(permits.group(1)), Integer.parseInt(permits.group(2)));
            } catch (IllegalArgumentException e) {
                // Not one we wrote: it counts as exclusive, the safe side.
            }
        }
        return Demand.exclusive();
    }
}
