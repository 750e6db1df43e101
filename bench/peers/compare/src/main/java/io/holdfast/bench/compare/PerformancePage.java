package io.holdfast.bench.compare;

import io.holdfast.bench.ContenderSpec.Kind;
import io.holdfast.bench.Figure;
import io.holdfast.bench.Measurement;
import io.holdfast.bench.Report;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.report.Bars;
import io.holdfast.bench.report.GroupedBars;
import io.holdfast.bench.report.Plots;
import io.holdfast.bench.report.Text;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.IntSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;

/** Writes {@code performance.md} and its plots from the results. What is written by hand stands in files beside it. */
final class PerformancePage {

    private static final Map<Kind, String> COLOURS =
            Map.of(Kind.OURS, "#2f7de1", Kind.PEER, "#e8743b", Kind.BARE, "#d9a514", Kind.FLOOR, "#8a94a3");
    private static final List<Scenario> SCENARIOS =
            List.of(Scenario.FREE, Scenario.SPREAD, Scenario.CROWD, Scenario.PROCESSES, Scenario.SECTION);

    private final Report report;
    private final Results results;
    private final Micro micro;
    private final Path docs;
    private final StringBuilder page = new StringBuilder();

    private PerformancePage(Report report, Micro micro, Path docs) {
        this.report = report;
        this.results = new Results(Summary.of(report.measurements()));
        this.micro = micro;
        this.docs = docs;
    }

    static void write(Report report, Path docs) throws IOException {
        Files.createDirectories(docs.resolve("performance"));
        new PerformancePage(report, Micro.read(docs.resolve("performance/micro.json")), docs).write();
    }

    /** For the log. */
    static String brief(Measurement run) {
        return run.scenario() == Scenario.HELD
                ? Text.percent(run.figure(Figure.CLIENT_CORE_SHARE)) + " of a core, "
                        + Text.number(run.figure(Figure.COMMANDS_PER_SECOND)) + " commands/s"
                : Text.rate(run.figure(Figure.RATE)) + "/s, cycle p50 " + Text.micros(run.figure(Figure.CYCLE_P50))
                        + ", longest wait " + Text.micros(run.figure(Figure.LONGEST_WAIT));
    }

    private void write() throws IOException {
        line("<!-- Written by bench/compare from performance/results.json. Change those, not this. -->");
        line("# Performance");
        line("");
        include("intro.md");
        headline();
        goals();
        include("notes.md");
        for (Scenario scenario : SCENARIOS) {
            scenario(scenario);
        }
        growth();
        held();
        micro();
        conditions();
        Files.writeString(docs.resolve("performance.md"), page);
    }

    /** One message: what a lock is worth to those who ask the store every time, and what local handoff adds to it. */
    private void headline() throws IOException {
        GroupedBars bars = new GroupedBars(
                        "One lock, four processes with four threads each that all want it",
                        "acquisitions per second, logarithmic: longer is better",
                        100,
                        1_000_000)
                .legend("fastest other library", COLOURS.get(Kind.PEER))
                .legend("Holdfast, store asked every time", "#8fb9ee")
                .legend("Holdfast, with local handoff", COLOURS.get(Kind.OURS));
        for (String store : results.stores()) {
            if (store.contains(",") || results.rate(store, Arenas.DEFAULTS, Scenario.PROCESSES).isEmpty()) {
                continue;
            }
            results.of(store, Scenario.PROCESSES).stream()
                    .filter(run -> run.kind() == Kind.PEER && run.median(Figure.RATE).isPresent())
                    .max(Comparator.comparingDouble(run -> run.median(Figure.RATE).getAsDouble()))
                    .ifPresent(run -> bars.bar(
                            store,
                            run.median(Figure.RATE).getAsDouble(),
                            COLOURS.get(Kind.PEER),
                            Optional.of(run.contender() + ", waits up to " + Text.micros(run.worst(Figure.LONGEST_WAIT)))));
            for (String strict : List.of(Arenas.FIFO, Arenas.UNSHARED)) {
                results.rate(store, strict, Scenario.PROCESSES)
                        .ifPresent(rate -> bars.bar(store, rate, "#8fb9ee", Optional.empty()));
            }
            results.rate(store, Arenas.DEFAULTS, Scenario.PROCESSES)
                    .ifPresent(rate -> bars.bar(store, rate, COLOURS.get(Kind.OURS), Optional.empty()));
        }
        image("headline", "One lock, four processes with four threads each: acquisitions per second", bars.svg());
    }

    private void goals() {
        List<Goals.Goal> goals = Goals.of(results, micro);
        long met = goals.stream().filter(Goals.Goal::isMet).count();
        long measured =
                goals.stream().filter(goal -> goal.reached().isPresent()).count();
        line("## Goals");
        line("");
        line("Set before anything was measured. " + met + " of " + goals.size() + " are met"
                + (measured < goals.size() ? "; not measured: " + (goals.size() - measured) : "") + ".");
        line("");
        line("| | goal | | reached | |");
        line("|---|---|---|---|---|");
        for (Goals.Goal goal : goals) {
            line("| (" + goal.scenario() + ") | " + goal.what() + " | " + (goal.atLeast() ? "≥ " : "≤ ")
                    + plain(goal.bound()) + " | "
                    + (goal.reached().isPresent() ? ratio(goal.reached()) : "not measured") + " | "
                    + (goal.reached().isEmpty() ? "" : goal.isMet() ? "met" : "**missed**") + " |");
        }
        line("");
    }

    private void scenario(Scenario scenario) throws IOException {
        line("## (" + scenario.letter() + ") " + scenario.title());
        line("");
        line(scenario.explanation());
        line("");
        boolean contended = scenario.isContended();
        for (String store : results.stores()) {
            List<Summary> runs = results.of(store, scenario);
            if (runs.isEmpty()) {
                continue;
            }
            line("### " + store);
            line("");
            line(
                    contended
                            ? "| | per second | ÷ floor | Holdfast ÷ it | p50 wait | p99 | longest wait | max/min | same again | CPU client / server | commands |"
                            : "| | cycle p50 | ÷ floor | it ÷ Holdfast | per second | acquire p50 | p99 | CPU client / server | commands |");
            line(contended ? "|---|---|---|---|---|---|---|---|---|---|---|" : "|---|---|---|---|---|---|---|---|---|");
            runs.forEach(run -> line(contended ? contendedRow(run) : freeRow(run)));
            floorRow(store, scenario);
            line("");
            line(rounds(runs));
            line("");
        }
        Bars bars = new Bars(List.of(), scenario == Scenario.FREE ? Text::micros : Text::number).logarithmic();
        Figure figure = scenario == Scenario.FREE ? Figure.CYCLE_P50 : Figure.RATE;
        results.summaries().stream()
                .filter(summary -> summary.scenario() == scenario)
                .forEach(summary -> bar(bars, summary, figure, summary.store() + ": " + summary.contender()));
        plot(
                scenario.key(),
                scenario == Scenario.FREE
                        ? "Median of acquire and release, shorter is better, logarithmic"
                        : "Acquisitions per second, longer is better, logarithmic",
                bars);
    }

    private static String rounds(List<Summary> runs) {
        IntSummaryStatistics rounds =
                runs.stream().mapToInt(Summary::rounds).summaryStatistics();
        return "Rounds: " + rounds.getMin() + (rounds.getMin() < rounds.getMax() ? " to " + rounds.getMax() : "") + ".";
    }

    private String freeRow(Summary run) {
        if (run.median(Figure.RATE).isEmpty()) {
            return "| " + run.contender() + " | no result: " + run.refused().orElse("") + " | | | | | | | |";
        }
        OptionalDouble cycle = run.median(Figure.CYCLE_P50);
        return "| " + bold(run) + " | " + Text.micros(cycle) + spread(run, Figure.CYCLE_P50) + " | "
                + ratio(over(cycle, results.figure(run.store(), Arenas.FLOOR, run.scenario(), Figure.CYCLE_P50)))
                + " | "
                + ratio(over(cycle, results.figure(run.store(), Arenas.DEFAULTS, run.scenario(), Figure.CYCLE_P50)))
                + " | " + Text.rate(run.median(Figure.RATE)) + spread(run, Figure.RATE) + " | "
                + Text.micros(run.median(Figure.P50)) + " | " + Text.micros(run.median(Figure.P99)) + " | " + costs(run)
                + " |";
    }

    private String contendedRow(Summary run) {
        if (run.median(Figure.RATE).isEmpty()) {
            return "| " + run.contender() + " | no result: " + run.refused().orElse("") + " | | | | | | | | | |";
        }
        OptionalDouble rate = run.median(Figure.RATE);
        return "| " + bold(run) + " | " + Text.rate(rate) + spread(run, Figure.RATE) + " | "
                + ratio(over(rate, results.floorRate(run.store(), run.scenario()))) + " | "
                + ratio(over(results.rate(run.store(), Arenas.DEFAULTS, run.scenario()), rate)) + " | "
                + Text.micros(run.median(Figure.P50)) + " | " + Text.micros(run.median(Figure.P99)) + " | "
                + Text.micros(run.worst(Figure.LONGEST_WAIT)) + " | " + fairness(run) + " | "
                + Text.percent(run.median(Figure.AGAIN_SHARE)) + " | " + costs(run) + " |";
    }

    private void floorRow(String store, Scenario scenario) {
        boolean computed = scenario.isContended()
                && results.rate(store, Arenas.BLPOP, scenario).isEmpty();
        OptionalDouble floor = results.floorRate(store, scenario);
        if (computed && floor.isPresent()) {
            line("| *floor, computed* | " + Text.rate(floor) + " | 1 | "
                    + ratio(over(results.rate(store, Arenas.DEFAULTS, scenario), floor)) + " | | | | | | | |");
        }
    }

    private void growth() throws IOException {
        line("## (f) growth");
        line("");
        line(Scenario.GROWTH.explanation() + " Over four JVMs. Acquisitions per second, and the longest wait.");
        line("");
        line("| store | | 10 | 100 | 1,000 | longest wait at most waiters |");
        line("|---|---|---|---|---|---|");
        Set<String> lines = results.summaries().stream()
                .filter(summary -> summary.scenario() == Scenario.GROWTH)
                .map(summary -> summary.store() + " | " + summary.contender())
                .collect(Collectors.toCollection(LinkedHashSet::new));
        for (String one : lines) {
            String[] names = one.split(" \\| ");
            StringBuilder row = new StringBuilder("| " + one + " |");
            String longest = Text.NONE;
            for (int waiters : new int[] {10, 100, 1000}) {
                var run = results.growth(names[0], names[1], waiters);
                row.append(' ')
                        .append(run.map(found -> found.median(Figure.RATE).isPresent()
                                        ? Text.rate(found.median(Figure.RATE))
                                        : "no result: " + found.refused().orElse(""))
                                .orElse(Text.NONE))
                        .append(" |");
                if (run.isPresent()) {
                    longest = Text.micros(run.get().worst(Figure.LONGEST_WAIT));
                }
            }
            line(row + " " + longest + " |");
        }
        line("");
        for (String store : results.stores()) {
            growthPlot(store);
        }
    }

    private void growthPlot(String store) throws IOException {
        List<List<Measurement>> groups = report.measurements().stream()
                .filter(run -> run.scenario() == Scenario.GROWTH && run.store().equals(store))
                .filter(run -> run.refused().isEmpty())
                .collect(Collectors.groupingBy(Measurement::contender, LinkedHashMap::new, Collectors.toList()))
                .values()
                .stream()
                .map(List::copyOf)
                .toList();
        if (!groups.isEmpty()) {
            image(
                    "growth-" + store.toLowerCase(Locale.ROOT).replaceAll("[^a-z]+", "-"),
                    store + ": rate against number of waiters",
                    Plots.growth(groups, Measurement::contender).svg());
        }
    }

    private void held() {
        line("## (g) 10,000 leases held and renewed for a minute");
        line("");
        line("| store | | threads added | heap per lease | client CPU | server CPU | commands per second |");
        line("|---|---|---|---|---|---|---|");
        results.summaries().stream()
                .filter(summary -> summary.scenario() == Scenario.HELD)
                .forEach(run -> line("| " + run.store() + " | " + bold(run) + " | "
                        + (run.median(Figure.ADDED_THREADS).isEmpty()
                                ? "no result: " + run.refused().orElse("") + " | | | | |"
                                : Text.number(run.median(Figure.ADDED_THREADS)) + " | "
                                        + Text.number(run.median(Figure.HEAP_PER_LEASE)) + " B | "
                                        + percent(run.median(Figure.CLIENT_CORE_SHARE)) + " | "
                                        + percent(run.median(Figure.SERVER_CORE_SHARE)) + " | "
                                        + Text.number(run.median(Figure.COMMANDS_PER_SECOND)) + " |")));
        line("");
    }

    private void micro() {
        if (!micro.runs().isEmpty()) {
            page.append(micro.table());
        }
    }

    private void conditions() {
        line("## Conditions");
        line("");
        line("| | |");
        line("|---|---|");
        report.machine().forEach((name, value) -> line("| " + name + " | " + value + " |"));
        line("");
    }

    private void include(String name) throws IOException {
        Path file = docs.resolve("performance").resolve(name);
        if (Files.exists(file)) {
            page.append(Files.readString(file).stripTrailing()).append("\n\n");
        }
    }

    private void plot(String name, String caption, Bars bars) throws IOException {
        if (!bars.isEmpty()) {
            image(name, caption, bars.svg());
        }
    }

    private void image(String name, String caption, String svg) throws IOException {
        String coloured = svg.replaceFirst(
                ">", "><style>svg{color:#1d2430}@media(prefers-color-scheme:dark){svg{color:#e4e8ee}}</style>");
        Files.writeString(docs.resolve("performance").resolve(name + ".svg"), coloured, StandardCharsets.UTF_8);
        line("![" + caption + "](performance/" + name + ".svg)");
        line("");
        line("*" + caption
                + ". Blue: Holdfast; orange: libraries with leases; yellow: locks without a lease; grey: floors.*");
        line("");
    }

    private static void bar(Bars bars, Summary summary, Figure figure, String label) {
        summary.median(figure)
                .ifPresent(value -> bars.bar(label, List.of(value), List.of(COLOURS.get(summary.kind()))));
    }

    private static String bold(Summary run) {
        return run.kind() == Kind.OURS ? "**" + run.contender() + "**" : run.contender();
    }

    private static String costs(Summary run) {
        return Text.micros(run.median(Figure.CLIENT_CPU)) + " / " + Text.micros(run.median(Figure.SERVER_CPU)) + " | "
                + Text.number(run.median(Figure.COMMANDS));
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

    private static OptionalDouble over(OptionalDouble one, OptionalDouble other) {
        return one.isPresent() && other.isPresent() && other.getAsDouble() > 0
                ? OptionalDouble.of(one.getAsDouble() / other.getAsDouble())
                : OptionalDouble.empty();
    }

    private static String ratio(OptionalDouble value) {
        return value.isPresent() && Double.isInfinite(value.getAsDouble()) ? "starved" : Text.number(value);
    }

    private static String plain(double value) {
        return value == Math.rint(value) ? Long.toString(Math.round(value)) : Double.toString(value);
    }

    private void line(String text) {
        page.append(text).append('\n');
    }
}
