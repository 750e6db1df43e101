package io.holdfast.bench.report;

import io.holdfast.bench.Figure;
import io.holdfast.bench.Measurement;
import io.holdfast.bench.Report;
import io.holdfast.bench.Scenario;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;

/** The result in a terminal. */
public final class ConsoleTable {

    private static final List<String> HEAD =
            List.of("", "", "per second", "average", "p50", "p90", "p99", "longest", "max/min", "CPU each", "cmds");

    private ConsoleTable() {}

    public static List<String> lines(Report report) {
        List<String> lines = new ArrayList<>();
        Set<String> stores = new LinkedHashSet<>();
        report.measurements().forEach(measurement -> stores.add(measurement.store()));
        for (String store : stores) {
            lines.add("");
            lines.add(store);
            List<List<String>> rows = new ArrayList<>();
            rows.add(HEAD);
            List<String> notes = new ArrayList<>();
            for (Measurement run : sorted(report, store)) {
                if (run.scenario() == Scenario.HELD && run.refused().isEmpty()) {
                    notes.add("  " + label(run) + ", " + run.contender() + ": " + held(run));
                } else {
                    rows.add(row(run));
                }
                run.refused()
                        .ifPresent(reason ->
                                notes.add("  no result for " + label(run) + ", " + run.contender() + ": " + reason));
            }
            lines.addAll(aligned(rows));
            lines.addAll(notes);
            Conclusion.of(report, store).forEach(sentence -> lines.add("  " + sentence));
        }
        return lines;
    }

    private static List<Measurement> sorted(Report report, String store) {
        List<Measurement> sorted = new ArrayList<>();
        for (Scenario scenario : Scenario.values()) {
            List<Measurement> runs = report.measurements().stream()
                    .filter(run -> run.store().equals(store) && run.scenario() == scenario)
                    .toList();
            runs.stream()
                    .map(run -> run.load().threads())
                    .distinct()
                    .forEach(threads -> runs.stream()
                            .filter(run -> run.load().threads() == threads)
                            .forEach(sorted::add));
        }
        return sorted;
    }

    static String label(Measurement run) {
        return run.scenario() == Scenario.GROWTH
                ? run.load().threads() + " waiters"
                : run.scenario().title();
    }

    private static List<String> row(Measurement run) {
        boolean contended = run.load().isContended();
        return List.of(
                label(run),
                run.contender(),
                Text.rate(run.figure(Figure.RATE)),
                Text.micros(run.figure(Figure.MEAN)),
                Text.micros(run.figure(Figure.P50)),
                Text.micros(run.figure(Figure.P90)),
                Text.micros(run.figure(Figure.P99)),
                Text.micros(run.figure(Figure.LONGEST_WAIT)),
                contended ? fairness(run) : Text.NONE,
                Text.micros(run.figure(Figure.CLIENT_CPU)),
                Text.number(run.figure(Figure.COMMANDS)));
    }

    static String held(Measurement run) {
        return Text.number(run.figure(Figure.ADDED_THREADS)) + " threads more, "
                + Text.number(run.figure(Figure.HEAP_PER_LEASE)) + " bytes of heap per lease, client CPU "
                + Text.percent(run.figure(Figure.CLIENT_CORE_SHARE)) + " of a core, "
                + Text.number(run.figure(Figure.COMMANDS_PER_SECOND)) + " commands per second";
    }

    /** How much more the luckiest thread got than the unluckiest. */
    static String fairness(Measurement run) {
        OptionalDouble most = run.figure(Figure.MOST_PER_THREAD);
        OptionalDouble least = run.figure(Figure.LEAST_PER_THREAD);
        if (most.isEmpty() || least.isEmpty()) {
            return Text.NONE;
        }
        return least.getAsDouble() == 0 ? "starved" : Text.number(most.getAsDouble() / least.getAsDouble());
    }

    private static List<String> aligned(List<List<String>> rows) {
        int columns = rows.stream().mapToInt(List::size).max().orElse(0);
        int[] widths = new int[columns];
        rows.forEach(row -> {
            for (int i = 0; i < row.size(); i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        });
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder("  ");
            for (int i = 0; i < row.size(); i++) {
                String padding = " ".repeat(widths[i] - row.get(i).length());
                line.append(i < 2 ? row.get(i) + padding : padding + row.get(i)).append("  ");
            }
            lines.add(line.toString().stripTrailing());
        }
        return lines;
    }
}
