package io.holdfast.torture.check;

import io.holdfast.torture.check.Counts.Writes;
import io.holdfast.torture.check.RunHistory.LockHistory;
import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Guard;
import io.holdfast.torture.history.Phase;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;

/**
 * Judges a history.
 *
 * <p>Exact for exclusion and tokens: it objects if and only if there is no way in which the store can have kept its word.
 * Elsewhere it objects only to what is certain. Takes time linear in the number of events, sorting apart.
 */
public final class Checker {

    /** A process that lost a lease and lived on for this long had the time to be told. */
    private static final long TELLING_NANOS = Duration.ofSeconds(2).toNanos();

    private final Rules rules;
    private final Faults faults;
    private final BusyTimes busy;
    private final RunHistory run;
    private final Findings findings = new Findings();
    private long grants;
    private Writes checked = Writes.NONE;
    private Writes unchecked = Writes.NONE;

    private Checker(List<Event> events, Rules rules) {
        this.rules = rules;
        this.faults = new Faults(events);
        this.busy = new BusyTimes(events);
        this.run = new RunHistory(events, rules);
    }

    /** @param events of all processes of a run, in any order */
    public static Verdict check(List<Event> events, Rules rules) {
        List<Event> inOrder =
                events.stream().sorted(Comparator.comparingLong(Event::nanos)).toList();
        Checker checker = new Checker(inOrder, rules);
        checker.run.locks().forEach(checker::check);
        return checker.verdict();
    }

    private void check(LockHistory history) {
        List<Attempt> granted = history.granted();
        grants += granted.size();
        List<Tenure> tenures = granted.stream().map(Attempt::tenure).toList();
        checkLeases(history.lock(), tenures, findings);
        granted.forEach(attempt -> checkEnd(history.lock(), attempt));
        checked = sum(checked, ResourceCheck.check(history.lock(), Guard.CHECKED, history.resourceEvents(), findings));
        unchecked = sum(
                unchecked, ResourceCheck.check(history.lock(), Guard.UNCHECKED, history.resourceEvents(), findings));
        if (rules.order() == Rules.Order.ARRIVAL) {
            OrderCheck.check(history.lock(), history.claims(), faults, busy, aftermathNanos(), findings);
        }
        rules.progressWithin()
                .ifPresent(within -> new ProgressCheck(run, faults, busy, within, findings).check(history));
        history.leftovers().forEach(event -> checkLeftovers(history.lock(), event));
    }

    /** The part that needs nothing but leases. */
    static void checkLeases(String lock, List<Tenure> tenures, Findings findings) {
        ExclusionWalk.check(lock, tenures, findings);
        BeliefSweep.check(lock, tenures, findings);
    }

    private void checkEnd(String lock, Attempt attempt) {
        if (attempt.deadlineNanos() > Long.MIN_VALUE) {
            findings.tested(Promise.KEPT, 1);
            if (attempt.goneNanos() < attempt.deadlineNanos()) {
                findings.violated(
                        Promise.KEPT,
                        lock,
                        "the store no longer knew token " + attempt.token() + " "
                                + (attempt.deadlineNanos() - attempt.goneNanos()) / 1_000_000
                                + " ms before its deadline",
                        attempt.tenure().events());
            }
        }
        Event released = attempt.releaseOutcome();
        if (released != null && released.phase() == Phase.TOLD_LOST) {
            boolean hadTime =
                    busy.judgedNanos(released.nanos(), run.lastSignOfLife(released.process())) > TELLING_NANOS;
            findings.tested(Promise.TOLD, hadTime || attempt.lost() != null ? 1 : 0);
            if (hadTime && attempt.lost() == null) {
                findings.violated(
                        Promise.TOLD,
                        lock,
                        "the holder of token " + attempt.token() + " was not told that its lease was lost",
                        attempt.tenure().events());
            }
        }
    }

    private void checkLeftovers(String lock, Event event) {
        findings.tested(Promise.CLEAN, 1);
        if (event.phase() != Phase.OK) {
            findings.violated(Promise.CLEAN, lock, "the store still has " + event.detail(), List.of(event));
        }
    }

    /** How long after a fault its effects may still show. */
    private long aftermathNanos() {
        return rules.progressWithin().orElse(Duration.ofSeconds(5)).toNanos();
    }

    private Verdict verdict() {
        return new Verdict(findings.all(), new Counts(run.operations(), grants, faults.count(), checked, unchecked));
    }

    private static Writes sum(Writes one, Writes other) {
        return new Writes(
                one.acknowledged() + other.acknowledged(), one.lost() + other.lost(), one.refused() + other.refused());
    }
}
