package io.holdfast.torture.check;

import io.holdfast.Demand;
import java.util.ArrayList;
import java.util.List;

/** Tries every way in which a store can have granted and ended a few leases. Slow, and too simple to be wrong. */
final class ExhaustiveSearch {

    private final List<SmallLease> leases;
    private final long horizon;
    private final long[] grantedAt;
    private final long[] endedAt;

    private ExhaustiveSearch(List<SmallLease> leases, long horizon) {
        this.leases = leases;
        this.horizon = horizon;
        this.grantedAt = new long[leases.size()];
        this.endedAt = new long[leases.size()];
    }

    /** Whether there is one in which whatever excludes each other never held at once, in the order of the tokens. */
    static boolean findsAWay(List<SmallLease> leases, long horizon) {
        long tokens = leases.stream().mapToLong(SmallLease::token).distinct().count();
        return tokens == leases.size() && new ExhaustiveSearch(leases, horizon).place(0);
    }

    /** Whether at some moment two believed in what only one can have, or too many permits were believed in. */
    static boolean findsTwoBelievers(List<SmallLease> leases, long horizon) {
        for (long moment = 0; moment <= horizon; moment++) {
            long now = moment;
            List<Demand> believing = leases.stream()
                    .filter(lease -> lease.granted().to() <= now && now < lease.believed())
                    .map(SmallLease::demand)
                    .toList();
            if (!fit(believing)) {
                return true;
            }
        }
        return false;
    }

    private boolean place(int index) {
        if (index == leases.size()) {
            return true;
        }
        SmallLease lease = leases.get(index);
        for (long from = lease.granted().from(); from <= lease.granted().to(); from++) {
            for (long to = Math.max(from, lease.ended().from());
                    to <= Math.min(horizon, lease.ended().to());
                    to++) {
                grantedAt[index] = from;
                endedAt[index] = to;
                if (fits(index) && place(index + 1)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean fits(int index) {
        for (int other = 0; other < index; other++) {
            boolean inOrder = leases.get(other).token() < leases.get(index).token();
            int first = inOrder ? other : index;
            int second = inOrder ? index : other;
            boolean excluding =
                    !fit(List.of(leases.get(first).demand(), leases.get(second).demand()));
            if (excluding && endedAt[first] > grantedAt[second]) {
                return false;
            }
        }
        return permitsFit(index);
    }

    private boolean permitsFit(int index) {
        List<Demand> holding = new ArrayList<>();
        for (long moment = grantedAt[index]; moment < endedAt[index]; moment++) {
            holding.clear();
            for (int each = 0; each <= index; each++) {
                Demand demand = leases.get(each).demand();
                if (demand instanceof Demand.Permits && grantedAt[each] <= moment && moment < endedAt[each]) {
                    holding.add(demand);
                }
            }
            if (!fit(holding)) {
                return false;
            }
        }
        return true;
    }

    /** Whether all of these may be held at once. */
    private static boolean fit(List<Demand> held) {
        int permits = 0;
        int taken = 0;
        int total = Integer.MAX_VALUE;
        int shared = 0;
        for (Demand demand : held) {
            if (demand instanceof Demand.Permits wanted) {
                permits++;
                taken += wanted.count();
                total = Math.min(total, wanted.total());
            } else if (demand instanceof Demand.Shared) {
                shared++;
            }
        }
        return held.size() < 2 || shared == held.size() || permits == held.size() && taken <= total;
    }
}
