package io.holdfast.torture.report;

import io.holdfast.torture.check.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What came of a campaign, in one line.
 *
 * @param outcome the worst there was
 * @param words for people
 */
public record Headline(Outcome outcome, String words) {

    /** How a campaign came out. */
    public enum Outcome {
        KEPT,
        BROKEN,
        NOT_JUDGED
    }

    private static final int MOST_NAMED = 4;

    public static Headline of(List<CellSummary> summaries) {
        List<CellSummary> run = summaries.stream().filter(CellSummary::wasRun).toList();
        if (run.isEmpty()) {
            return new Headline(Outcome.NOT_JUDGED, "NOT JUDGED: no cell could be run.");
        }
        if (run.stream().anyMatch(CellSummary::isBroken)) {
            return new Headline(Outcome.BROKEN, "BROKEN: " + named(run, Standing.BROKEN) + ".");
        }
        if (!run.stream().allMatch(CellSummary::isJudged)) {
            return notJudged(run);
        }
        return new Headline(Outcome.KEPT, "KEPT: " + kept(summaries, run));
    }

    private static Headline notJudged(List<CellSummary> run) {
        String promises = named(run, Standing.NOT_JUDGED);
        if (!promises.isEmpty()) {
            return new Headline(
                    Outcome.NOT_JUDGED,
                    "NOT JUDGED: " + promises
                            + ". This machine was too busy to tell a slow store from slow processes: run it again when"
                            + " less else runs, with fewer --workers, or with a longer --ttl.");
        }
        CellSummary troubled =
                run.stream().filter(cell -> !cell.isJudged()).findFirst().orElseThrow();
        return new Headline(
                Outcome.NOT_JUDGED,
                "NOT JUDGED: " + troubled.store() + " " + troubled.title() + ": "
                        + troubled.troubles().get(0).lines().findFirst().orElse(""));
    }

    private static String kept(List<CellSummary> all, List<CellSummary> run) {
        long limits = run.stream().filter(cell -> limits(cell) > 0).count();
        return String.format(
                Locale.ROOT,
                "every promise, where it is made%s. %s run, %,d operations judged, %,d faults injected.",
                limits == 0 ? "" : "; documented limits showed in " + counted(limits, "cell"),
                run.size() == all.size() ? counted(run.size(), "cell") : run.size() + " of " + all.size() + " cells",
                run.stream().mapToLong(CellSummary::operations).sum(),
                run.stream().mapToLong(CellSummary::faults).sum());
    }

    private static long limits(CellSummary cell) {
        return cell.promises().keySet().stream()
                .filter(promise -> cell.standing(promise) == Standing.DOCUMENTED_LIMIT)
                .count();
    }

    private static String counted(long number, String word) {
        return number + " " + word + (number == 1 ? "" : "s");
    }

    /** The promises that stand so, each with its cells. */
    private static String named(List<CellSummary> run, Standing standing) {
        List<String> parts = new ArrayList<>();
        for (Promise promise : Promise.values()) {
            List<String> cells = run.stream()
                    .filter(cell -> cell.standing(promise) == standing)
                    .map(cell -> cell.store() + " " + cell.title())
                    .toList();
            if (!cells.isEmpty()) {
                parts.add(promise.name().toLowerCase(Locale.ROOT) + " (" + promise.sentence() + ") on "
                        + cells.stream().limit(MOST_NAMED).collect(Collectors.joining(", "))
                        + (cells.size() > MOST_NAMED ? " and " + (cells.size() - MOST_NAMED) + " more" : ""));
            }
        }
        return String.join("; ", parts);
    }
}
