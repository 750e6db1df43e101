package io.holdfast.torture.report;

import io.holdfast.torture.check.Counts;
import io.holdfast.torture.check.Promise;
import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.stand.LocalStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The table of stores, faults and promises, as Markdown: {@code docs/safety.md} is its output. */
public final class SafetyPage {

    private final List<CellSummary> summaries;
    private final LocalDate today;
    private final StringBuilder text = new StringBuilder();

    private SafetyPage(List<CellSummary> summaries, LocalDate today) {
        this.summaries = summaries;
        this.today = today;
    }

    public static void write(List<CellSummary> summaries, Path file) throws IOException {
        Files.writeString(file, text(summaries, LocalDate.now()));
    }

    static String text(List<CellSummary> summaries, LocalDate today) {
        return new SafetyPage(summaries, today).page();
    }

    private String page() {
        line("# How safe the stores are, as measured");
        line("");
        line("*For whoever wants to know what was tried, and what came of it.*");
        line("");
        line("Written by `holdfast torture` on " + today
                + ", not by hand; see [torture.md](torture.md) for how to run it and" + " how a history is judged.");
        line("");
        figures();
        line("");
        line("`✓` kept · `limit` broken, as the store's page says it can be · `BROKEN` broken, and nobody said so ·"
                + " `not judged` the machine was too busy to tell · `–` nothing to judge");
        line("");
        promises();
        line("");
        line(
                "*Lost updates* is the share of acknowledged writes that are not in the list afterwards, without checking tokens"
                        + " and with: a lock alone does not protect a system that does not look at tokens, see"
                        + " [guarantees](guarantees.md#what-no-lock-can-promise).");
        for (String store : stores()) {
            store(store);
        }
        limits();
        notRun();
        return text.toString();
    }

    private void figures() {
        List<CellSummary> run = summaries.stream().filter(CellSummary::wasRun).toList();
        long shortest = run.stream().mapToLong(CellSummary::seconds).min().orElse(0);
        Counts.Writes unchecked = sum(run.stream().map(CellSummary::unchecked).toList());
        Counts.Writes checked = sum(run.stream().map(CellSummary::checked).toList());
        line(String.format(
                Locale.ROOT,
                "%d cells of at least %d s, %,d operations judged, %,d leases, %,d faults. Without fencing %,d of %,d updates"
                        + " were lost (%s), with fencing %,d of %,d.",
                run.size(),
                shortest,
                run.stream().mapToLong(CellSummary::operations).sum(),
                run.stream().mapToLong(CellSummary::grants).sum(),
                run.stream().mapToLong(CellSummary::faults).sum(),
                unchecked.lost(),
                unchecked.acknowledged(),
                percent(unchecked),
                checked.lost(),
                checked.acknowledged()));
    }

    private void promises() {
        line("| promise | |");
        line("|---|---|");
        for (Promise promise : Promise.values()) {
            line("| " + word(promise) + " | " + promise.sentence() + " |");
        }
    }

    private void store(String store) {
        line("");
        line("## "
                + Arrays.stream(LocalStore.values())
                        .filter(known -> known.word().equals(store))
                        .findFirst()
                        .map(known -> store + ": " + known.title())
                        .orElse(store));
        line("");
        line(commits(store));
        line("");
        line("| fault | "
                + Arrays.stream(Promise.values()).map(SafetyPage::word).collect(Collectors.joining(" | "))
                + " | lost updates, without / with fencing | faults | leases |");
        line("|---|" + "---|".repeat(Promise.values().length + 3));
        summaries.stream()
                .filter(summary -> summary.store().equals(store) && summary.wasRun())
                .sorted(Comparator.comparingInt(summary -> order(summary.title())))
                .forEach(this::row);
    }

    /** Every store is a part that may have been run on other code. */
    private String commits(String store) {
        Map<String, Long> cells = summaries.stream()
                .filter(summary -> summary.store().equals(store) && summary.wasRun())
                .collect(Collectors.groupingBy(
                        summary ->
                                summary.commit().isEmpty() ? "an unknown commit" : "commit `" + summary.commit() + "`",
                        TreeMap::new,
                        Collectors.counting()));
        return "Run on "
                + (cells.size() == 1
                        ? cells.keySet().iterator().next()
                        : cells.entrySet().stream()
                                .map(entry -> entry.getKey() + " (" + entry.getValue()
                                        + (entry.getValue() == 1 ? " cell)" : " cells)"))
                                .collect(Collectors.joining(", ")))
                + ".";
    }

    private void row(CellSummary summary) {
        StringBuilder row = new StringBuilder("| ").append(summary.title()).append(" |");
        for (Promise promise : Promise.values()) {
            row.append(' ').append(mark(summary, promise)).append(" |");
        }
        row.append(' ').append(percent(summary.unchecked())).append(" / ").append(percent(summary.checked()));
        row.append(" | ")
                .append(summary.faults())
                .append(" | ")
                .append(summary.grants())
                .append(" |");
        line(row.toString());
        for (String trouble : summary.troubles()) {
            line("| | " + trouble.lines().findFirst().orElse("").replace('|', '/') + " |");
        }
    }

    private static String mark(CellSummary summary, Promise promise) {
        return switch (summary.standing(promise)) {
            case KEPT -> "✓";
            case NOT_TESTED -> "–";
            case NOT_JUDGED -> "not judged";
            case DOCUMENTED_LIMIT -> "limit (" + summary.of(promise).violations() + ")";
            case BROKEN -> "**BROKEN** (" + summary.of(promise).violations() + ")";
        };
    }

    /** What the pages of the stores say about the limits that showed. */
    private void limits() {
        Set<String> shown = new LinkedHashSet<>();
        for (CellSummary summary : summaries) {
            for (Promise promise : Promise.values()) {
                if (summary.wasRun() && summary.standing(promise) == Standing.DOCUMENTED_LIMIT) {
                    DocumentedLimits.of(summary.store(), summary.title(), promise)
                            .ifPresent(limit -> shown.add("| " + summary.store() + " | " + summary.title() + " | \""
                                    + limit.words() + "\" ([" + limit.page() + "](stores/" + limit.page() + ")) |"));
                }
            }
        }
        if (!shown.isEmpty()) {
            line("");
            line("## Limits, in the words of the stores' pages");
            line("");
            line("| store | fault | |");
            line("|---|---|---|");
            shown.forEach(this::line);
        }
    }

    private void notRun() {
        List<CellSummary> notRun =
                summaries.stream().filter(summary -> !summary.wasRun()).toList();
        if (!notRun.isEmpty()) {
            line("");
            line("## Not run");
            line("");
            notRun.forEach(summary -> line("- " + summary.store() + ", " + summary.title() + ": "
                    + summary.notRun().lines().findFirst().orElse("")));
        }
    }

    /** In the order of the stores we know, others after them. */
    private List<String> stores() {
        Set<String> stores = new LinkedHashSet<>();
        Arrays.stream(LocalStore.values()).map(LocalStore::word).forEach(stores::add);
        summaries.stream().map(CellSummary::store).forEach(stores::add);
        List<String> known = new ArrayList<>(stores);
        known.removeIf(
                store -> summaries.stream().noneMatch(summary -> summary.store().equals(store) && summary.wasRun()));
        return known;
    }

    private static int order(String title) {
        return Arrays.stream(Fault.values())
                .filter(fault -> fault.word().equals(title))
                .mapToInt(Fault::ordinal)
                .findFirst()
                .orElse(Integer.MAX_VALUE);
    }

    private static Counts.Writes sum(List<Counts.Writes> all) {
        return new Counts.Writes(
                all.stream().mapToLong(Counts.Writes::acknowledged).sum(),
                all.stream().mapToLong(Counts.Writes::lost).sum(),
                all.stream().mapToLong(Counts.Writes::refused).sum());
    }

    private static String percent(Counts.Writes writes) {
        return writes.lost() == 0 ? "0" : String.format(Locale.ROOT, "%.1f %%", 100 * writes.lostShare());
    }

    private static String word(Promise promise) {
        return promise.name().toLowerCase(Locale.ROOT);
    }

    private void line(String words) {
        text.append(words).append('\n');
    }
}
