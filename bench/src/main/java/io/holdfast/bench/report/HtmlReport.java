package io.holdfast.bench.report;

import io.holdfast.bench.Figure;
import io.holdfast.bench.Measurement;
import io.holdfast.bench.Report;
import io.holdfast.bench.Scenario;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The result as one page that needs nothing else: no network, no script. */
public final class HtmlReport {

    private final Report report;
    private final StringBuilder html = new StringBuilder();

    private HtmlReport(Report report) {
        this.report = report;
    }

    public static String of(Report report) {
        return new HtmlReport(report).page();
    }

    private String page() {
        html.append("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
                .append("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">")
                .append("<title>Holdfast bench</title><style>")
                .append(resource("report.css"))
                .append("</style></head><body><main>\n<header><h1>Holdfast bench</h1><p class=\"facts\">")
                .append(report.machine().values().stream().map(Text::escaped).collect(Collectors.joining(" · ")))
                .append("</p></header>\n");
        headlines();
        stores().forEach(this::store);
        html.append(resource("report-notes.html")).append("</main></body></html>\n");
        return html.toString();
    }

    /** One tile per store: what queueing is worth there. */
    private void headlines() {
        html.append("<section class=\"tiles\">\n");
        for (String store : stores()) {
            tile(store);
        }
        html.append("</section>\n");
    }

    private void tile(String store) {
        List<Measurement> runs = of(store);
        html.append("<div class=\"tile\"><h2>").append(Text.escaped(store)).append("</h2>");
        conclusion(store);
        html.append("<dl>");
        first(runs, Scenario.FREE)
                .ifPresent(run -> fact("a free lock costs", Text.micros(run.figure(Figure.CYCLE_P50))));
        for (Scenario scenario : List.of(Scenario.NETWORK, Scenario.PROCESSES, Scenario.CROWD)) {
            runs.stream()
                    .filter(run -> run.scenario() == scenario)
                    .filter(run -> run.figure(Figure.RATE).isPresent())
                    .forEach(run -> fact(scenario.title() + ", " + run.contender(), rate(run)));
        }
        html.append("</dl></div>\n");
    }

    private void conclusion(String store) {
        List<String> sentences = Conclusion.of(report, store);
        if (!sentences.isEmpty()) {
            html.append("<p class=\"conclusion\">")
                    .append(sentences.stream().map(Text::escaped).collect(Collectors.joining(" ")))
                    .append("</p>");
        }
    }

    /** A rate says nothing about those who got nothing. */
    private static String rate(Measurement run) {
        return Text.rate(run.figure(Figure.RATE)) + " <small>per second</small>"
                + Conclusion.starved(run)
                        .map(who -> "<br><em>starved " + Text.escaped(who) + "</em>")
                        .orElse("");
    }

    private void fact(String what, String value) {
        html.append("<div><dt>")
                .append(Text.escaped(what))
                .append("</dt><dd>")
                .append(value)
                .append("</dd></div>");
    }

    private void store(String store) {
        html.append("<section><h2>").append(Text.escaped(store)).append("</h2>\n");
        table(store);
        html.append("<div class=\"plots\">\n");
        for (Scenario scenario : Scenario.values()) {
            List<Measurement> runs = plotted(store, scenario);
            if (!runs.isEmpty() && scenario != Scenario.GROWTH) {
                plot(
                        scenario.title() + ": time to acquire",
                        scenario.explanation() + " Lower is better.",
                        Plots.latency(runs, Measurement::contender).svg());
            }
        }
        growth(store);
        overTime(store);
        cpu(store);
        html.append("</div></section>\n");
    }

    private void growth(String store) {
        List<List<Measurement>> groups = contenders(store).stream()
                .map(contender -> plotted(store, Scenario.GROWTH).stream()
                        .filter(run -> run.contender().equals(contender))
                        .toList())
                .filter(group -> !group.isEmpty())
                .toList();
        Chart chart = Plots.growth(groups, Measurement::contender);
        if (!chart.isEmpty()) {
            plot(
                    "Rate against number of waiters",
                    "A level line: the crowd costs nothing. Higher is better.",
                    chart.svg());
        }
    }

    private void overTime(String store) {
        for (Scenario scenario : List.of(Scenario.PROCESSES, Scenario.CROWD)) {
            Chart chart = Plots.overTime(plotted(store, scenario), Measurement::contender);
            if (!chart.isEmpty()) {
                plot(
                        scenario.title() + ": rate over time",
                        "A line that is not level has not settled, or drifts.",
                        chart.svg());
                return;
            }
        }
    }

    private void cpu(String store) {
        List<Measurement> runs = of(store).stream()
                // A long section is waited through, and what the JVM does meanwhile would be put down to the lock.
                .filter(run -> run.scenario() != Scenario.HELD && run.scenario() != Scenario.SECTION)
                .filter(run -> run.scenario() != Scenario.GROWTH || run.load().threads() == 100)
                .toList();
        GroupedBars bars = Plots.cpu(runs, run -> ConsoleTable.label(run) + ", " + run.contender());
        if (!bars.isEmpty()) {
            plot("CPU time per acquisition", "What a lock costs beside the time it takes.", bars.svg());
        }
    }

    private void plot(String title, String caption, String svg) {
        html.append("<figure><figcaption><b>")
                .append(Text.escaped(title))
                .append("</b><span>")
                .append(Text.escaped(caption))
                .append("</span></figcaption>")
                .append(svg)
                .append("</figure>\n");
    }

    private void table(String store) {
        html.append(
                        "<div class=\"wide\"><table><thead><tr><th>scenario</th><th>waiting</th><th>per second</th><th>average</th>")
                .append(
                        "<th>p50</th><th>p70</th><th>p90</th><th>p99</th><th>max</th><th>longest wait</th><th>max/min</th>")
                .append("<th>client CPU</th><th>server CPU</th><th>commands</th></tr></thead><tbody>\n");
        for (Scenario scenario : Scenario.values()) {
            List<Measurement> runs = of(store).stream()
                    .filter(run -> run.scenario() == scenario)
                    .sorted(Comparator.comparingInt(run -> run.load().threads()))
                    .toList();
            double best = runs.stream()
                    .mapToDouble(run -> run.figure(Figure.RATE).orElse(0))
                    .max()
                    .orElse(0);
            runs.forEach(run -> row(run, best));
        }
        html.append("</tbody></table></div>\n");
    }

    private void row(Measurement run, double best) {
        html.append("<tr><td title=\"")
                .append(Text.escaped(run.scenario().explanation()))
                .append("\">")
                .append(Text.escaped(ConsoleTable.label(run)))
                .append("</td><td>")
                .append(Text.escaped(run.contender()))
                .append("</td>");
        if (run.refused().isPresent()) {
            html.append("<td class=\"refused\" colspan=\"12\">no result: ")
                    .append(Text.escaped(run.refused().get()))
                    .append("</td></tr>\n");
            return;
        }
        if (run.scenario() == Scenario.HELD) {
            html.append("<td class=\"text\" colspan=\"12\">")
                    .append(Text.escaped(ConsoleTable.held(run)))
                    .append("</td></tr>\n");
            return;
        }
        double share = best == 0 ? 0 : run.figure(Figure.RATE).orElse(0) / best;
        html.append("<td class=\"rate\" style=\"--share:")
                .append(Math.round(share * 100))
                .append("%\">")
                .append(Text.rate(run.figure(Figure.RATE)))
                .append("</td>");
        for (Figure figure :
                List.of(Figure.MEAN, Figure.P50, Figure.P70, Figure.P90, Figure.P99, Figure.MAX, Figure.LONGEST_WAIT)) {
            cell(Text.micros(run.figure(figure)));
        }
        cell(run.load().isContended() ? ConsoleTable.fairness(run) : Text.NONE);
        cell(Text.micros(run.figure(Figure.CLIENT_CPU)));
        cell(Text.micros(run.figure(Figure.SERVER_CPU)));
        cell(Text.number(run.figure(Figure.COMMANDS)));
        html.append("</tr>\n");
    }

    private void cell(String text) {
        html.append("<td>").append(Text.escaped(text)).append("</td>");
    }

    private Set<String> stores() {
        return report.measurements().stream()
                .map(Measurement::store)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private Set<String> contenders(String store) {
        return of(store).stream().map(Measurement::contender).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private List<Measurement> of(String store) {
        return report.measurements().stream()
                .filter(run -> run.store().equals(store))
                .toList();
    }

    private List<Measurement> plotted(String store, Scenario scenario) {
        List<Measurement> runs = new ArrayList<>(of(store));
        runs.removeIf(run -> run.scenario() != scenario || run.series().isEmpty());
        return runs;
    }

    private static Optional<Measurement> first(List<Measurement> runs, Scenario scenario) {
        return runs.stream()
                .filter(run -> run.scenario() == scenario && run.refused().isEmpty())
                .findFirst();
    }

    private static String resource(String name) {
        try (InputStream in = HtmlReport.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException(name + " is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
