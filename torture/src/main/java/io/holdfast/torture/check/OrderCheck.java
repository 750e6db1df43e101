package io.holdfast.torture.check;

import io.holdfast.Demand;
import io.holdfast.torture.history.Event;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/*
 * A stood in line before B asked, if the store's answer "queued" had reached A before B sent its request. Then B must not be
 * granted while A waits. That it was, shows in one of two ways: A was granted later, with a larger token, and had kept its place
 * all along; or A never was, and the store confirmed A's place after B was granted. Only those that exclude each other count:
 * others are let in side by side. Faults excuse it: a store may pass over a waiter it cannot reach.
 *
 * Of all that a B may have overtaken, the one that queued last is looked at: the time from there to B's grant is the shortest, so
 * if even that saw a fault, all do.
 */

/** Whether waiters of one lock were served in order of arrival, as far as no fault got in the way. */
final class OrderCheck {

    private final String lock;
    private final Faults faults;
    private final BusyTimes busy;
    private final long aftermathNanos;
    private final Findings findings;
    /** Those with a larger token than the one looked at, by demand and by when they had queued. */
    private final Map<Demand, NavigableMap<Long, Claim>> later = new HashMap<>();

    private OrderCheck(String lock, Faults faults, BusyTimes busy, long aftermathNanos, Findings findings) {
        this.lock = lock;
        this.faults = faults;
        this.busy = busy;
        this.aftermathNanos = aftermathNanos;
        this.findings = findings;
    }

    static void check(
            String lock, List<Claim> claims, Faults faults, BusyTimes busy, long aftermathNanos, Findings findings) {
        OrderCheck check = new OrderCheck(lock, faults, busy, aftermathNanos, findings);
        List<Claim> fromLargestToken = new ArrayList<>(claims);
        fromLargestToken.sort(Comparator.comparingLong(Claim::token).reversed());
        long waited = 0;
        for (Claim claim : fromLargestToken) {
            check.served(claim);
            if (claim.queued() != null && claim.granted() != null) {
                check.stoodInLine(claim, claim.queued());
            }
            waited += claim.queued() == null ? 0 : 1;
        }
        check.neverServed(claims);
        findings.tested(Promise.ORDER, waited);
    }

    private void stoodInLine(Claim claim, Event queued) {
        later.computeIfAbsent(claim.demand(), unused -> new TreeMap<>()).put(queued.nanos(), claim);
    }

    private void served(Claim claim) {
        Event granted = claim.granted();
        if (granted == null) {
            return;
        }
        Event overtaken = null;
        for (Map.Entry<Demand, NavigableMap<Long, Claim>> entry : later.entrySet()) {
            if (Exclusion.between(claim.demand(), entry.getKey())) {
                Map.Entry<Long, Claim> ahead = entry.getValue().lowerEntry(claim.sentNanos());
                Event queued = ahead == null ? null : ahead.getValue().queued();
                if (queued != null && (overtaken == null || queued.nanos() > overtaken.nanos())) {
                    overtaken = queued;
                }
            }
        }
        report(overtaken, granted);
    }

    /** Those still in line after somebody who came later had been served. */
    private void neverServed(List<Claim> claims) {
        Map<Demand, NavigableMap<Long, Event>> firstServed = firstServedOfThoseSentSince(claims);
        for (Claim claim : claims) {
            Event queued = claim.queued();
            if (queued == null || claim.granted() != null) {
                continue;
            }
            for (Map.Entry<Demand, NavigableMap<Long, Event>> entry : firstServed.entrySet()) {
                Map.Entry<Long, Event> behind = entry.getValue().higherEntry(queued.nanos());
                if (behind != null
                        && behind.getValue().nanos() < claim.heardNanos()
                        && Exclusion.between(claim.demand(), entry.getKey())) {
                    report(queued, behind.getValue());
                    break;
                }
            }
        }
    }

    /** By demand and send time: of all requests sent then or later, the one granted first. */
    private static Map<Demand, NavigableMap<Long, Event>> firstServedOfThoseSentSince(List<Claim> claims) {
        List<Claim> fromLastSent = new ArrayList<>(claims);
        fromLastSent.sort(Comparator.comparingLong(Claim::sentNanos).reversed());
        Map<Demand, NavigableMap<Long, Event>> first = new HashMap<>();
        for (Claim claim : fromLastSent) {
            Event granted = claim.granted();
            if (granted != null) {
                NavigableMap<Long, Event> known = first.computeIfAbsent(claim.demand(), unused -> new TreeMap<>());
                Map.Entry<Long, Event> sooner = known.firstEntry();
                boolean soonest =
                        sooner == null || granted.nanos() < sooner.getValue().nanos();
                known.put(claim.sentNanos(), soonest ? granted : sooner.getValue());
            }
        }
        return first;
    }

    private void report(@Nullable Event overtaken, Event granted) {
        if (overtaken == null || faults.anyBetween(overtaken.nanos() - aftermathNanos, granted.nanos())) {
            return;
        }
        if (busy.anyBetween(overtaken.nanos() - aftermathNanos, granted.nanos())) {
            findings.notJudged(Promise.ORDER);
            return;
        }
        findings.violated(
                Promise.ORDER,
                lock,
                overtaken.process() + " stood in line before " + granted.process() + " asked, and was served later",
                List.of(overtaken, granted));
    }
}
