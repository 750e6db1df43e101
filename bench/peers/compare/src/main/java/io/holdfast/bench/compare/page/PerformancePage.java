package io.holdfast.bench.compare.page;

import io.holdfast.bench.Figure;
import io.holdfast.bench.Measurement;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.compare.kept.Kept;
import io.holdfast.bench.compare.kept.Part;
import io.holdfast.bench.report.Text;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Writes {@code performance.md} and its plots from the results. What is written by hand stands in files beside it. */
public final class PerformancePage {

    private final Kept kept;
    private final Results results;
    private final Micro micro;
    private final Path docs;
    private final PartLetters letters;
    private final StringBuilder page = new StringBuilder();

    private PerformancePage(Kept kept, Micro micro, Path docs) {
        this.kept = kept;
        this.results = new Results(Summary.of(kept.runs()));
        this.micro = micro;
        this.docs = docs;
        this.letters = new PartLetters(kept.parts());
    }

    public static void write(Kept kept, Path docs) throws IOException {
        Files.createDirectories(docs.resolve("performance"));
        new PerformancePage(kept, Micro.read(docs.resolve("performance/micro.json")), docs).write();
    }

    /** For the log. */
    public static String brief(Measurement run) {
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
        line("*For whoever compares libraries or stores, and wants to see how it was measured.*");
        line("");
        opening();
        include("intro.md");
        goals();
        include("notes.md");
        page.append(new ScenarioTables(results, letters).text());
        page.append(new SpotTables(kept, letters).text());
        if (!micro.runs().isEmpty()) {
            page.append(micro.table());
        }
        conditions();
        Files.writeString(docs.resolve("performance.md"), page);
        FiguresInText figures = new FiguresInText(results, kept);
        for (String readme : List.of("README.md", "README.zh-CN.md")) {
            figures.renew(docs.resolveSibling(readme));
        }
    }

    private void opening() throws IOException {
        int number = 1;
        for (Opening.Figured figure : new Opening(results).figures()) {
            line("**" + number++ + ".** " + figure.sentence());
            line("");
            String coloured = figure.bars()
                    .svg()
                    .replaceFirst(
                            ">",
                            "><style>svg{color:#1d2430}@media(prefers-color-scheme:dark){svg{color:#e4e8ee}}</style>");
            Files.writeString(docs.resolve("performance").resolve(figure.file() + ".svg"), coloured);
            line("![" + figure.title() + "](performance/" + figure.file() + ".svg)");
            line("");
        }
        line("Servers and clients together on one machine with two cores; " + commits()
                + ". Everything behind these five"
                + " plots: [goals](#goals), [tables](#a-free-lock), [conditions](#conditions).");
        line("");
    }

    private String commits() {
        Set<String> commits = kept.parts().stream()
                .filter(part -> results.summaries().stream()
                        .anyMatch(run -> run.part().equals(part) && run.scenario() != Scenario.HELD))
                .map(part -> "`" + part.fact(Part.COMMIT) + "`")
                .collect(Collectors.toCollection(LinkedHashSet::new));
        return (commits.size() == 1 ? "measured at commit " : "measured at commits ") + String.join(", ", commits);
    }

    private void goals() {
        List<Goals.Goal> goals = Goals.of(results, kept);
        long met = goals.stream().filter(Goals.Goal::isMet).count();
        long measured =
                goals.stream().filter(goal -> goal.reached().isPresent()).count();
        line("## Goals");
        line("");
        line("Set before anything was measured. " + met + " of " + goals.size() + " are met"
                + (measured < goals.size() ? "; not measured: " + (goals.size() - measured) : "")
                + ". Letters at the end say in which [parts](#conditions) both sides were measured: between parts the"
                + " machine varies.");
        line("");
        line("| | goal | | reached | | part |");
        line("|---|---|---|---|---|---|");
        for (Goals.Goal goal : goals) {
            line("| (" + goal.scenario() + ") | " + goal.what() + " | " + (goal.atLeast() ? "≥ " : "≤ ")
                    + plain(goal.bound()) + " | " + (goal.reached().isPresent() ? reached(goal) : "not measured")
                    + " | "
                    + (goal.reached().isEmpty() ? "" : goal.isMet() ? "met" : "**missed**") + " | "
                    + letters.of(goal.parts()) + " |");
        }
        line("");
        List<Goals.Goal> missed = goals.stream()
                .filter(goal -> goal.reached().isPresent()
                        && !goal.isMet()
                        && !goal.profile().isEmpty())
                .toList();
        if (!missed.isEmpty()) {
            line("Where the time goes in what was missed, by the same runs:");
            line("");
            missed.forEach(goal -> line(
                    "- (" + goal.scenario() + ") " + goal.what() + ", " + reached(goal) + ": " + goal.profile() + "."));
            line("");
        }
    }

    private static String reached(Goals.Goal goal) {
        double value = goal.reached().getAsDouble();
        return Double.isInfinite(value) ? "starved" : Text.number(value);
    }

    private void conditions() {
        line("## Conditions");
        line("");
        line("| part | store | commit | started | machine | load before | how |");
        line("|---|---|---|---|---|---|---|");
        for (Part part : kept.parts()) {
            line("| " + letters.of(part) + " | " + part.fact(Part.STORE) + " | `" + part.fact(Part.COMMIT) + "` | "
                    + part.fact(Part.STARTED) + " | " + part.machine() + " | " + part.fact(Part.LOAD) + " | "
                    + part.fact(Part.PACE) + " |");
        }
        line("");
        line("The machine and the versions, of the latest part:");
        line("");
        line("| | |");
        line("|---|---|");
        Collection<String> shown = Set.of(Part.STORE, Part.COMMIT, Part.STARTED, Part.LOAD, Part.PACE, "date");
        kept.parts().stream()
                .findFirst()
                .ifPresent(part -> part.facts().forEach((name, value) -> {
                    if (!shown.contains(name)) {
                        line("| " + name + " | " + value + " |");
                    }
                }));
        line("");
    }

    private void include(String name) throws IOException {
        Path file = docs.resolve("performance").resolve(name);
        if (Files.exists(file)) {
            page.append(Files.readString(file).stripTrailing()).append("\n\n");
        }
    }

    private static String plain(double value) {
        return value == Math.rint(value) ? Long.toString(Math.round(value)) : Double.toString(value);
    }

    private void line(String text) {
        page.append(text).append('\n');
    }
}
