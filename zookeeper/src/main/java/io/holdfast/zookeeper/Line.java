package io.holdfast.zookeeper;

import io.holdfast.Demand;
import io.holdfast.spi.Admission;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Who stands in line for one lock, first first, as one listing showed it. Immutable. */
final class Line {

    /** Where a listing comes near the 1 MiB that a ZooKeeper client accepts as one answer, at 59 bytes per place. */
    static final int LONGEST = 15_000;

    private static final int MOST_BYTES = 1_000_000;

    private final List<Member> members;

    private Line(List<Member> members) {
        this.members = members;
    }

    static Line of(List<String> nodes) {
        List<Member> members = new ArrayList<>(nodes.size());
        for (String node : nodes) {
            Member.parse(node).ifPresent(members::add);
        }
        if (!members.isEmpty()) {
            // Numbers wrap around: they are compared by distance, which is right while the line is shorter than 2^31.
            int some = members.get(0).sequence();
            members.sort(
                    Comparator.comparingInt((Member m) -> m.sequence() - some).thenComparing(Member::node));
        }
        return new Line(List.copyOf(members));
    }

    /** Whether one place more could make the next listing too large to be read by anybody. */
    static boolean isTooLong(List<String> nodes) {
        if (nodes.size() > LONGEST) {
            return true;
        }
        long bytes = 0;
        for (String node : nodes) {
            bytes += node.length() + Integer.BYTES;
        }
        return bytes > MOST_BYTES;
    }

    List<Member> members() {
        return members;
    }

    Optional<Member> named(String node) {
        return members.stream().filter(member -> member.node().equals(node)).findFirst();
    }

    /** All nodes of one request: more than one if an earlier session of it was given up and is not yet over. */
    List<Member> of(String uuid) {
        return members.stream()
                .filter(member -> NodeNames.isOf(uuid, member.node()))
                .toList();
    }

    /** How many of the first hold the lock. */
    int holders() {
        Admission admission = new Admission();
        int admitted = 0;
        while (admitted < members.size()
                && admission.admit(members.get(admitted).demand())) {
            admitted++;
        }
        return admitted;
    }

    /** Whether a newcomer with this demand would hold the lock at once. */
    boolean wouldAdmit(Demand newcomer) {
        Admission admission = new Admission();
        for (Member member : members) {
            if (!admission.admit(member.demand())) {
                return false;
            }
        }
        return admission.admit(newcomer);
    }

    boolean admits(Member mine) {
        return members.indexOf(mine) < holders();
    }

    /**
     * Those ahead that all have to leave before this member is admitted, the nearest last: for an exclusive one all
     * ahead, for a shared one those ahead that do not share. Permits are not so simple, see {@link Place}.
     */
    List<String> blockers(Member mine) {
        List<String> blockers = new ArrayList<>();
        for (Member member : members) {
            if (member.equals(mine)) {
                break;
            }
            if (!(mine.demand() instanceof Demand.Shared && member.demand() instanceof Demand.Shared)) {
                blockers.add(member.node());
            }
        }
        return blockers;
    }
}
