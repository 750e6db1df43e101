package io.holdfast.torture.check;

import io.holdfast.torture.history.Event;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Collects what the parts of the checker find out. Not thread-safe. */
final class Findings {

    /** Enough for a report; a store that breaks a promise all the time would fill the memory. */
    private static final int MOST_EXAMPLES = 50;

    private final Map<Promise, Tally> tallies = new EnumMap<>(Promise.class);

    void tested(Promise promise, long more) {
        tally(promise).tested += more;
    }

    /** Something that would be a breach, had the machine not been too busy. */
    void notJudged(Promise promise) {
        tally(promise).notJudged++;
    }

    void violated(Promise promise, String lock, String what, List<Event> operations) {
        Tally tally = tally(promise);
        tally.violations++;
        if (tally.examples.size() < MOST_EXAMPLES) {
            List<Event> inOrder = operations.stream()
                    .distinct()
                    .sorted(Comparator.comparingLong(Event::nanos))
                    .toList();
            tally.examples.add(new Violation(promise, lock, what, inOrder));
        }
    }

    /** Two leases that do not go together. */
    void violated(Promise promise, String lock, String what, Tenure one, Tenure other) {
        List<Event> operations = new ArrayList<>(one.events());
        operations.addAll(other.events());
        violated(promise, lock, what, operations);
    }

    Map<Promise, Finding> all() {
        Map<Promise, Finding> findings = new EnumMap<>(Promise.class);
        for (Promise promise : Promise.values()) {
            findings.put(promise, tally(promise).finding(promise));
        }
        return findings;
    }

    private Tally tally(Promise promise) {
        return tallies.computeIfAbsent(promise, unused -> new Tally());
    }

    private static final class Tally {

        private final List<Violation> examples = new ArrayList<>();
        private long tested;
        private long violations;
        private long notJudged;

        Finding finding(Promise promise) {
            Finding.Outcome outcome = Finding.Outcome.NOT_TESTED;
            if (violations > 0) {
                outcome = Finding.Outcome.VIOLATED;
            } else if (notJudged > 0) {
                outcome = Finding.Outcome.NOT_JUDGED;
            } else if (tested > 0) {
                outcome = Finding.Outcome.HELD;
            }
            return new Finding(promise, outcome, tested, violations, List.copyOf(examples));
        }
    }
}
