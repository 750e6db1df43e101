package io.holdfast.torture.report;

import io.holdfast.torture.cell.Cell;
import io.holdfast.torture.cell.CellResult;
import io.holdfast.torture.check.Counts;
import io.holdfast.torture.check.Finding;
import io.holdfast.torture.check.Finding.Outcome;
import io.holdfast.torture.check.Promise;
import io.holdfast.torture.check.Violation;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The outcome of a cell in a few lines: what is kept of it when its history is thrown away. Immutable.
 *
 * @param store the store's name
 * @param title the fault, or {@code mixed}
 * @param seconds how long faults came
 * @param seed what makes the schedule the same again
 * @param notRun why it could not be run; empty if it was
 * @param promises what was found about each
 * @param operations how many operations were judged
 * @param grants how many leases there were
 * @param faults how many faults were injected
 * @param checked what became of writes where tokens are checked
 * @param unchecked and where they are not
 * @param troubles what went wrong with the run itself
 * @param commit of the code that was run; empty if it was no build from source
 */
public record CellSummary(
        String store,
        String title,
        long seconds,
        long seed,
        String notRun,
        Map<Promise, Found> promises,
        long operations,
        long grants,
        long faults,
        Counts.Writes checked,
        Counts.Writes unchecked,
        List<String> troubles,
        String commit) {

    /**
     * What was found about a promise.
     *
     * @param outcome whether it held
     * @param tested on how many things it was tested
     * @param violations how often it was broken
     * @param example one of these, for people; empty if none
     */
    public record Found(Outcome outcome, long tested, long violations, String example) {}

    public CellSummary {
        promises = Map.copyOf(promises);
        troubles = List.copyOf(troubles);
    }

    public static CellSummary of(CellResult result) {
        Map<Promise, Found> promises = new EnumMap<>(Promise.class);
        result.verdict().findings().forEach((promise, finding) -> promises.put(promise, found(finding)));
        Counts counts = result.verdict().counts();
        Cell cell = result.cell();
        return new CellSummary(
                cell.store(),
                cell.title(),
                cell.length().toSeconds(),
                cell.seed(),
                "",
                promises,
                counts.operations(),
                counts.grants(),
                counts.faults(),
                counts.checked(),
                counts.unchecked(),
                result.troubles(),
                CodeVersion.current());
    }

    public static CellSummary notRun(Cell cell, String why) {
        return new CellSummary(
                cell.store(),
                cell.title(),
                0,
                cell.seed(),
                why,
                Map.of(),
                0,
                0,
                0,
                Counts.Writes.NONE,
                Counts.Writes.NONE,
                List.of(),
                CodeVersion.current());
    }

    public boolean wasRun() {
        return notRun.isEmpty();
    }

    public Found of(Promise promise) {
        return promises.getOrDefault(promise, new Found(Outcome.NOT_TESTED, 0, 0, ""));
    }

    /** How a promise came out, a documented limit told apart from a breach. */
    public Standing standing(Promise promise) {
        return switch (of(promise).outcome()) {
            case HELD -> Standing.KEPT;
            case NOT_JUDGED -> Standing.NOT_JUDGED;
            case NOT_TESTED -> Standing.NOT_TESTED;
            case VIOLATED ->
                DocumentedLimits.of(store, title, promise).isPresent() ? Standing.DOCUMENTED_LIMIT : Standing.BROKEN;
        };
    }

    /** Whether it shows a promise broken that no documentation takes back, or could not be judged. */
    public boolean isBad() {
        return isBroken() || !isJudged();
    }

    /** Whether a promise was broken that no documentation takes back. */
    public boolean isBroken() {
        return stands(Standing.BROKEN);
    }

    /** Whether nothing went wrong with the run itself, and the machine was not too busy. */
    public boolean isJudged() {
        return troubles.isEmpty() && !stands(Standing.NOT_JUDGED);
    }

    private boolean stands(Standing standing) {
        return promises.keySet().stream().anyMatch(promise -> standing(promise) == standing);
    }

    private static Found found(Finding finding) {
        String example =
                finding.examples().stream().findFirst().map(Violation::what).orElse("");
        return new Found(finding.outcome(), finding.tested(), finding.violations(), example);
    }
}
