package io.holdfast.torture.check;

import io.holdfast.Demand;
import io.holdfast.torture.check.SmallLease.End;
import io.holdfast.torture.check.SmallLease.Span;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Makes small histories: some that a store can have produced, some with a flaw, some at random. */
final class SmallHistories {

    /** Times are 0 to this; every search ends here. */
    static final long HORIZON = 10;

    private static final int MOST_LEASES = 4;

    /** Mixes its seed well: those of neighbouring seeds have nothing in common. */
    private final SplittableRandom random;

    SmallHistories(long seed) {
        this.random = new SplittableRandom(seed);
    }

    /** What a store did that kept its word, as seen from outside: by construction there is a way. */
    List<SmallLease> possible() {
        List<SmallLease> leases = new ArrayList<>();
        List<Truth> held = new ArrayList<>();
        long token = 0;
        int count = 1 + random.nextInt(MOST_LEASES);
        for (int i = 0; i < count; i++) {
            Demand demand = demand();
            long free = freeFor(demand, held);
            long grant = between(free, Math.min(free + 2, HORIZON));
            Truth truth = new Truth(demand, grant, between(grant, Math.min(grant + 4, HORIZON)));
            held.add(truth);
            token += 1 + random.nextInt(2);
            leases.add(seenFromOutside("w" + i, truth, token));
        }
        return leases;
    }

    /** From when on the demand fits beside all that was held. */
    private static long freeFor(Demand demand, List<Truth> held) {
        long free = 0;
        for (Truth other : held) {
            if (!(demand instanceof Demand.Shared && other.demand instanceof Demand.Shared)) {
                free = Math.max(free, other.end);
            }
        }
        if (demand instanceof Demand.Permits wanted && held.size() == 1) {
            boolean fits = held.get(0).demand instanceof Demand.Permits other
                    && other.count() + wanted.count() <= Math.min(other.total(), wanted.total());
            return fits ? 0 : free;
        }
        return free;
    }

    /** What really happened. */
    private record Truth(Demand demand, long grant, long end) {}

    /** The same with one thing wrong, or maybe not wrong enough. */
    List<SmallLease> flawed() {
        List<SmallLease> leases = new ArrayList<>(possible());
        int index = random.nextInt(leases.size());
        SmallLease lease = leases.get(index);
        leases.set(
                index,
                switch (random.nextInt(4)) {
                    case 0 -> withToken(lease, random.nextInt(8));
                    case 1 -> withDemand(lease, demand());
                    case 2 -> withDeadline(lease, between(lease.deadline(), HORIZON));
                    default -> anything("w" + index);
                });
        return leases;
    }

    List<SmallLease> anything() {
        List<SmallLease> leases = new ArrayList<>();
        int count = 1 + random.nextInt(MOST_LEASES);
        for (int i = 0; i < count; i++) {
            leases.add(anything("w" + i));
        }
        return leases;
    }

    private SmallLease anything(String who) {
        long asked = between(0, HORIZON - 2);
        long got = between(asked, Math.min(asked + 4, HORIZON));
        long release = between(got, HORIZON);
        return new SmallLease(
                who,
                demand(),
                random.nextInt(8),
                new Span(asked, got),
                End.values()[random.nextInt(End.values().length)],
                new Span(release, between(release, HORIZON)),
                between(asked, HORIZON),
                between(got, release),
                between(got, HORIZON));
    }

    /** What remains known of a lease that was really granted and ended at these moments. */
    private SmallLease seenFromOutside(String who, Truth truth, long token) {
        long grant = truth.grant;
        long end = truth.end;
        long asked = between(0, grant);
        End how = End.values()[random.nextInt(End.values().length)];
        // Who released it did so around its end; who did not was overtaken by its deadline, which came no later.
        long got = between(grant, how == End.RELEASED ? end : HORIZON);
        long releasing = how == End.RELEASED ? between(got, end) : between(got, HORIZON);
        long deadline = how == End.RELEASED || releasing <= end ? between(asked, HORIZON) : between(asked, end);
        if (how == End.KILLED || how == End.EXPIRED || how == End.GONE) {
            deadline = between(asked, end);
        }
        long until = Math.min(between(asked, end), deadline);
        return new SmallLease(
                who,
                truth.demand,
                token,
                new Span(asked, got),
                how,
                new Span(releasing, between(Math.max(releasing, end), HORIZON)),
                deadline,
                between(got, releasing),
                until);
    }

    private Demand demand() {
        return switch (random.nextInt(4)) {
            case 0, 1 -> Demand.exclusive();
            case 2 -> Demand.shared();
            default -> {
                int total = 2 + random.nextInt(2);
                yield Demand.permits(1 + random.nextInt(2), total);
            }
        };
    }

    private static SmallLease withToken(SmallLease lease, long token) {
        return new SmallLease(
                lease.who(),
                lease.demand(),
                token,
                lease.granted(),
                lease.end(),
                lease.released(),
                lease.deadline(),
                lease.lastValid(),
                lease.validUntil());
    }

    private static SmallLease withDemand(SmallLease lease, Demand demand) {
        return new SmallLease(
                lease.who(),
                demand,
                lease.token(),
                lease.granted(),
                lease.end(),
                lease.released(),
                lease.deadline(),
                lease.lastValid(),
                lease.validUntil());
    }

    private static SmallLease withDeadline(SmallLease lease, long deadline) {
        return new SmallLease(
                lease.who(),
                lease.demand(),
                lease.token(),
                lease.granted(),
                lease.end(),
                lease.released(),
                deadline,
                lease.lastValid(),
                lease.validUntil());
    }

    private long between(long from, long to) {
        return from + random.nextLong(Math.max(1, to - from + 1));
    }
}
