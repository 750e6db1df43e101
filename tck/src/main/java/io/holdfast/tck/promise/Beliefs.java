package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.Lease;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/*
 * Who believed to hold a lock, and when.
 *
 * A belief lasts from the moment the acquisition returned to the last moment at which the holder asked isValid() and was
 * told yes. Both ends lie inside the lease's true validity, so two beliefs that overlap, though their demands exclude each
 * other, prove a broken promise however badly threads were scheduled. That fewer overlaps are seen than may have happened
 * is the price; the tests make up for it by numbers.
 */
final class Beliefs {

    private record Belief(Demand demand, long token, long fromNanos, long untilNanos) {}

    private record Edge(long atNanos, boolean begins, Belief belief) {}

    private final ConcurrentLinkedQueue<Belief> all = new ConcurrentLinkedQueue<>();

    /** Holds for the time of the work and writes it down. To be called as soon as the lease is there. */
    void hold(Demand demand, Lease lease, Runnable work) {
        long from = System.nanoTime();
        work.run();
        long until = System.nanoTime();
        if (lease.isValid()) {
            all.add(new Belief(demand, lease.token(), from, until));
        }
    }

    int size() {
        return all.size();
    }

    /** P1, and P2: of two that exclude each other the later has the larger token. */
    void assertExclusionAndFencing() {
        assertNoOverlap();
        assertTokensGrow();
    }

    private void assertNoOverlap() {
        List<Edge> edges = new ArrayList<>();
        for (Belief belief : all) {
            if (belief.untilNanos - belief.fromNanos > 0) { // else the clock did not move, and it overlaps nothing
                edges.add(new Edge(belief.fromNanos, true, belief));
                edges.add(new Edge(belief.untilNanos, false, belief));
            }
        }
        // Of two edges at one moment the end comes first: touching is not overlapping.
        edges.sort(Comparator.comparingLong(Edge::atNanos).thenComparing(Edge::begins));
        List<Belief> inside = new ArrayList<>();
        for (Edge edge : edges) {
            if (edge.begins) {
                for (Belief other : inside) {
                    assertThat(exclude(edge.belief.demand, other.demand))
                            .as("P1: %s and %s held at the same time", edge.belief, other)
                            .isFalse();
                }
                inside.add(edge.belief);
                assertPermitsWithin(inside);
            } else {
                inside.remove(edge.belief);
            }
        }
    }

    private void assertTokensGrow() {
        List<Belief> inOrder = new ArrayList<>(all);
        inOrder.sort(Comparator.comparingLong(Belief::fromNanos));
        assertThat(inOrder.stream().map(Belief::token)).as("P2: tokens").doesNotHaveDuplicates();
        long largestExclusive = 0;
        long largest = 0;
        for (Belief belief : inOrder) {
            boolean exclusive = belief.demand instanceof Demand.Exclusive;
            assertThat(belief.token)
                    .as("P2: token of %s, granted after those that exclude it", belief)
                    .isGreaterThan(exclusive ? largest : largestExclusive);
            largest = Math.max(largest, belief.token);
            largestExclusive = exclusive ? Math.max(largestExclusive, belief.token) : largestExclusive;
        }
    }

    private static boolean exclude(Demand a, Demand b) {
        boolean readers = a instanceof Demand.Shared && b instanceof Demand.Shared;
        boolean takers = a instanceof Demand.Permits && b instanceof Demand.Permits;
        return !readers && !takers;
    }

    private static void assertPermitsWithin(List<Belief> inside) {
        int taken = 0;
        int total = Integer.MAX_VALUE;
        for (Belief belief : inside) {
            if (belief.demand instanceof Demand.Permits permits) {
                taken += permits.count();
                total = Math.min(total, permits.total());
            }
        }
        assertThat(taken).as("P1: permits taken by %s", inside).isLessThanOrEqualTo(total);
    }
}
