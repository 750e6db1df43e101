package io.holdfast.cli.trial;

import io.holdfast.cli.console.Output;
import io.holdfast.torture.check.Counts;
import io.holdfast.torture.check.Promise;
import io.holdfast.torture.report.CellSummary;
import io.holdfast.torture.report.Headline;
import io.holdfast.torture.report.Standing;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Says what came of a campaign: a line per cell, and at the end a verdict per promise. */
final class TortureVerdict {

    private final Output output;

    TortureVerdict(Output output) {
        this.output = output;
    }

    /** One cell on one line. */
    static String line(CellSummary summary) {
        String name = String.format(Locale.ROOT, "%-32s", summary.store() + " " + summary.title());
        if (!summary.wasRun()) {
            return name + " not run: " + summary.notRun().lines().findFirst().orElse("");
        }
        List<String> notes = new ArrayList<>();
        for (Promise promise : Promise.values()) {
            Standing standing = summary.standing(promise);
            if (standing == Standing.NOT_JUDGED) {
                notes.add(word(promise) + " " + standing.words());
            } else if (standing == Standing.BROKEN || standing == Standing.DOCUMENTED_LIMIT) {
                notes.add(word(promise) + " " + standing.words() + " ("
                        + summary.of(promise).violations() + ")");
            }
        }
        String verdict = notes.isEmpty() ? "kept" : String.join(", ", notes);
        if (!summary.troubles().isEmpty()) {
            verdict += ", not judged: "
                    + summary.troubles().get(0).lines().findFirst().orElse("");
        }
        return name
                + String.format(
                        Locale.ROOT,
                        " %3d s %4d faults %6d leases; lost updates %s, fenced %s; ",
                        summary.seconds(),
                        summary.faults(),
                        summary.grants(),
                        share(summary.unchecked()),
                        share(summary.checked()))
                + verdict;
    }

    /** Prints the verdict in one line, and then per promise. */
    void print(List<CellSummary> summaries, Headline headline) {
        if (output.isJson()) {
            return;
        }
        output.print("");
        output.print(headline.words());
        output.print("");
        for (Promise promise : Promise.values()) {
            output.print(String.format(
                    Locale.ROOT, "%-10s %-53s %s", word(promise), promise.sentence(), count(summaries, promise)));
        }
    }

    private static String count(List<CellSummary> summaries, Promise promise) {
        List<String> parts = new ArrayList<>();
        for (Standing standing : Standing.values()) {
            long cells = summaries.stream()
                    .filter(CellSummary::wasRun)
                    .filter(summary -> summary.standing(promise) == standing)
                    .count();
            if (cells > 0) {
                parts.add(standing.words() + (summaries.size() == 1 ? "" : " in " + cells));
            }
        }
        return String.join(", ", parts);
    }

    private static String share(Counts.Writes writes) {
        if (writes.lost() == 0) {
            return "0";
        }
        return String.format(
                Locale.ROOT, "%.1f %% (%d of %d)", 100 * writes.lostShare(), writes.lost(), writes.acknowledged());
    }

    private static String word(Promise promise) {
        return promise.name().toLowerCase(Locale.ROOT);
    }
}
