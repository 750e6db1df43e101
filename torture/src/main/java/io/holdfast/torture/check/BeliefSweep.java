package io.holdfast.torture.check;

import io.holdfast.torture.check.Frontier.Mark;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Whether two holders that exclude each other believed in their leases at one moment: the only thing a program notices. A
 * holder believes from the return of acquire until it calls release, is told of the loss, or its own deadline passes.
 */
final class BeliefSweep {

    private BeliefSweep() {}

    static void check(String lock, List<Tenure> tenures, Findings findings) {
        List<Tenure> byStart = new ArrayList<>();
        for (Tenure tenure : tenures) {
            if (tenure.beliefNanos() > tenure.okNanos()) {
                byStart.add(tenure);
            }
        }
        byStart.sort(Comparator.comparingLong(Tenure::okNanos));
        Frontier believing = new Frontier();
        for (Tenure next : byStart) {
            Mark other = believing.latestExcluding(next.demand());
            if (other != null && other.nanos() > next.okNanos()) {
                Tenure earlier = other.cause();
                findings.violated(
                        Promise.BELIEF,
                        lock,
                        "tokens " + earlier.token() + " and " + next.token() + " were believed in at once for "
                                + (Math.min(other.nanos(), next.beliefNanos()) - next.okNanos()) / 1_000 + " µs",
                        earlier,
                        next);
            }
            believing.advance(next.demand(), new Mark(next.beliefNanos(), next));
        }
        PermitSum.check(Promise.BELIEF, lock, tenures, Tenure::beliefNanos, findings);
        findings.tested(Promise.BELIEF, byStart.size());
    }
}
