package io.holdfast.bench.compare.page;

import io.holdfast.bench.ContenderSpec.Kind;
import io.holdfast.bench.Figure;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.compare.arena.Arenas;
import io.holdfast.bench.compare.kept.Part;
import io.holdfast.bench.report.Text;
import java.util.IntSummaryStatistics;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;

/** The tables of all loads. */
final class ScenarioTables {

    private static final List<Scenario> SCENARIOS =
            List.of(Scenario.FREE, Scenario.SPREAD, Scenario.CROWD, Scenario.PROCESSES, Scenario.SECTION);

    private static final List<String> FREE_COLUMNS = List.of(
            "",
            "cycle p50",
            "÷ floor",
            "it ÷ Holdfast",
            "per second",
            "acquire p50",
            "p99",
            "CPU client / server",
            "commands",
            "part");

    private static final List<String> CONTENDED_COLUMNS = List.of(
            "",
            "per second",
            "÷ floor",
            "Holdfast ÷ it",
            "p50 wait",
            "p99",
            "longest wait",
            "max/min",
            "same again",
            "CPU client / server",
            "commands",
            "part");

    private final Results results;
    private final PartLetters letters;
    private final StringBuilder text = new StringBuilder();

    ScenarioTables(Results results, PartLetters letters) {
        this.results = results;
        this.letters = letters;
    }

    String text() {
        SCENARIOS.forEach(this::scenario);
        growth();
        held();
        return text.toString();
    }

    private void scenario(Scenario scenario) {
        heading(scenario);
        boolean contended = scenario.isContended();
        List<String> columns = contended ? CONTENDED_COLUMNS : FREE_COLUMNS;
        for (String store : results.stores()) {
            List<Summary> runs = results.of(store, scenario);
            if (runs.isEmpty()) {
                continue;
            }
            line("### " + store);
            line("");
            header(columns);
            for (Summary run : runs) {
                if (run.median(Figure.RATE).isEmpty()) {
                    refused(run, columns.size());
                } else {
                    row(contended ? contendedRow(run) : freeRow(run));
                }
            }
            floorRow(store, scenario);
            line("");
            line(rounds(runs));
            line("");
        }
    }

    private void heading(Scenario scenario) {
        line("## (" + scenario.letter() + ") " + scenario.title());
        line("");
        line(scenario.explanation());
        line("");
    }

    private void header(List<String> columns) {
        row(columns);
        line("|---".repeat(columns.size()) + "|");
    }

    private void refused(Summary run, int columns) {
        line("| " + run.contender() + " | no result: " + run.refused().orElse("") + " |" + " |".repeat(columns - 3)
                + " " + letters.of(run.part()) + " |");
    }

    private static String rounds(List<Summary> runs) {
        IntSummaryStatistics rounds = runs.stream().mapToInt(Summary::rounds).summaryStatistics();
        return "Rounds: " + rounds.getMin() + (rounds.getMin() < rounds.getMax() ? " to " + rounds.getMax() : "") + ".";
    }

    private List<String> freeRow(Summary run) {
        OptionalDouble cycle = run.median(Figure.CYCLE_P50);
        return List.of(
                bold(run),
                Text.micros(cycle) + spread(run, Figure.CYCLE_P50),
                ratio(cycle, results.figure(run.store(), Arenas.FLOOR, run.scenario(), Figure.CYCLE_P50)),
                ratio(cycle, results.figure(run.store(), Arenas.DEFAULTS, run.scenario(), Figure.CYCLE_P50)),
                Text.rate(run.median(Figure.RATE)) + spread(run, Figure.RATE),
                Text.micros(run.median(Figure.P50)),
                Text.micros(run.median(Figure.P99)),
                cpu(run),
                Text.number(run.median(Figure.COMMANDS)),
                letters.of(run.part()));
    }

    private List<String> contendedRow(Summary run) {
        OptionalDouble rate = run.median(Figure.RATE);
        return List.of(
                bold(run),
                Text.rate(rate) + spread(run, Figure.RATE),
                ratio(rate, results.floorRate(run.store(), run.scenario())),
                ratio(results.rate(run.store(), Arenas.DEFAULTS, run.scenario()), rate),
                Text.micros(run.median(Figure.P50)),
                Text.micros(run.median(Figure.P99)),
                Text.micros(run.worst(Figure.LONGEST_WAIT)),
                fairness(run),
                Text.percent(run.median(Figure.AGAIN_SHARE)),
                cpu(run),
                Text.number(run.median(Figure.COMMANDS)),
                letters.of(run.part()));
    }

    private void floorRow(String store, Scenario scenario) {
        boolean computed = scenario.isContended()
                && results.rate(store, Arenas.BLPOP, scenario).isEmpty();
        OptionalDouble floor = results.floorRate(store, scenario);
        if (computed && floor.isPresent()) {
            line("| *floor, computed* | " + Text.rate(floor) + " | 1 | "
                    + ratio(results.rate(store, Arenas.DEFAULTS, scenario), floor) + " | | | | | | | | |");
        }
    }

    private void growth() {
        heading(Scenario.GROWTH);
        line("Over four JVMs. Acquisitions per second, and the longest wait.");
        line("");
        header(List.of("store", "", "10", "100", "1,000", "longest wait at most waiters", "part"));
        Set<List<String>> contenders = results.summaries().stream()
                .filter(summary -> summary.scenario() == Scenario.GROWTH)
                .map(summary -> List.of(summary.store(), summary.contender()))
                .collect(Collectors.toCollection(LinkedHashSet::new));
        for (List<String> one : contenders) {
            StringBuilder row = new StringBuilder("| " + String.join(" | ", one) + " |");
            String longest = Text.NONE;
            Set<Part> parts = new LinkedHashSet<>();
            for (int waiters : new int[] {10, 100, 1000}) {
                var run = results.growth(one.get(0), one.get(1), waiters);
                row.append(' ')
                        .append(run.map(found -> found.median(Figure.RATE).isPresent()
                                        ? Text.rate(found.median(Figure.RATE))
                                        : "no result: " + found.refused().orElse(""))
                                .orElse(Text.NONE))
                        .append(" |");
                if (run.isPresent()) {
                    longest = Text.micros(run.get().worst(Figure.LONGEST_WAIT));
                    parts.add(run.get().part());
                }
            }
            line(row + " " + longest + " | " + letters.of(parts) + " |");
        }
        line("");
    }

    private void held() {
        heading(Scenario.HELD);
        header(List.of(
                "store",
                "",
                "threads added",
                "heap per lease",
                "client CPU",
                "server CPU",
                "commands per second",
                "part"));
        results.summaries().stream()
                .filter(summary -> summary.scenario() == Scenario.HELD)
                .forEach(run -> line("| " + run.store() + " | " + bold(run) + " | "
                        + (run.median(Figure.ADDED_THREADS).isEmpty()
                                ? "no result: " + run.refused().orElse("") + " | | | | |"
                                : Text.number(run.median(Figure.ADDED_THREADS)) + " | "
                                        + Text.number(run.median(Figure.HEAP_PER_LEASE)) + " B | "
                                        + percent(run.median(Figure.CLIENT_CORE_SHARE)) + " | "
                                        + percent(run.median(Figure.SERVER_CORE_SHARE)) + " | "
                                        + Text.number(run.median(Figure.COMMANDS_PER_SECOND)) + " |")
                        + " " + letters.of(run.part()) + " |"));
        line("");
    }

    private static String bold(Summary run) {
        return run.kind() == Kind.OURS ? "**" + run.contender() + "**" : run.contender();
    }

    private static String cpu(Summary run) {
        return Text.micros(run.median(Figure.CLIENT_CPU)) + " / " + Text.micros(run.median(Figure.SERVER_CPU));
    }

    private static String fairness(Summary run) {
        OptionalDouble unfairness = run.unfairness();
        return unfairness.isPresent() && Double.isInfinite(unfairness.getAsDouble())
                ? "starved"
                : Text.number(unfairness);
    }

    private static String spread(Summary run, Figure figure) {
        OptionalDouble spread = run.spread(figure);
        return spread.isPresent() ? " ± " + Text.percent(spread) : "";
    }

    private static String percent(OptionalDouble share) {
        return share.isPresent() ? String.format(Locale.ROOT, "%.1f %%", share.getAsDouble() * 100) : Text.NONE;
    }

    private static String ratio(OptionalDouble one, OptionalDouble other) {
        return one.isPresent() && other.isPresent() && other.getAsDouble() > 0
                ? Text.number(one.getAsDouble() / other.getAsDouble())
                : Text.NONE;
    }

    private void row(List<String> cells) {
        line("| " + String.join(" | ", cells) + " |");
    }

    private void line(String words) {
        text.append(words).append('\n');
    }
}
