package io.holdfast.torture.check;

import io.holdfast.Demand;
import io.holdfast.torture.history.Event;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/** Whether the permits held at one moment stay within the smallest total named by their holders. */
final class PermitSum {

    private final PriorityQueue<Tenure> holders;
    private final ToLongFunction<Tenure> end;
    private final TreeMap<Integer, Integer> totals = new TreeMap<>();
    private long taken;

    private PermitSum(ToLongFunction<Tenure> end) {
        this.end = end;
        this.holders = new PriorityQueue<>(Comparator.comparingLong(end));
    }

    /** Counts every permit from the ok of its acquisition to {@code end}. */
    static void check(
            Promise promise, String lock, List<Tenure> tenures, ToLongFunction<Tenure> end, Findings findings) {
        List<Tenure> byStart = new ArrayList<>();
        for (Tenure tenure : tenures) {
            if (tenure.demand() instanceof Demand.Permits && end.applyAsLong(tenure) > tenure.okNanos()) {
                byStart.add(tenure);
            }
        }
        byStart.sort(Comparator.comparingLong(Tenure::okNanos));
        PermitSum sum = new PermitSum(end);
        for (Tenure next : byStart) {
            sum.removeEndedBy(next.okNanos());
            sum.add(next);
            if (sum.isExceeded()) {
                findings.violated(promise, lock, sum.what(), sum.events());
            }
        }
    }

    private void add(Tenure tenure) {
        Demand.Permits permits = (Demand.Permits) tenure.demand();
        holders.add(tenure);
        taken += permits.count();
        totals.merge(permits.total(), 1, Integer::sum);
    }

    private void removeEndedBy(long nanos) {
        while (!holders.isEmpty() && end.applyAsLong(holders.element()) <= nanos) {
            Demand.Permits permits = (Demand.Permits) holders.remove().demand();
            taken -= permits.count();
            totals.merge(permits.total(), -1, (count, one) -> count == 1 ? null : count - 1);
        }
    }

    private boolean isExceeded() {
        return taken > totals.firstKey();
    }

    private String what() {
        return taken + " of " + totals.firstKey() + " permits were held at once";
    }

    private List<Event> events() {
        return holders.stream().flatMap(holder -> holder.events().stream()).toList();
    }
}
