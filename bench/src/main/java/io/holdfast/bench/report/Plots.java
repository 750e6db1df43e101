package io.holdfast.bench.report;

import io.holdfast.bench.Figure;
import io.holdfast.bench.Measurement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The plots of a report, from runs that belong together. */
public final class Plots {

    private static final List<String> COLOURS = List.of(
            "#2f7de1", "#e8743b", "#2aa876", "#b45ad1", "#d9a514", "#d1495b", "#1aa7b8", "#8a6d5b", "#6b7fd7",
            "#7a8b2e");

    private static final List<Double> PERCENTILES = List.of(0.0, 50.0, 90.0, 99.0, 99.9, 99.99);

    private Plots() {}

    public static String colour(int index) {
        return COLOURS.get(index % COLOURS.size());
    }

    /** How long acquisitions take: every step to the right is a tenfold rarer one. */
    public static Chart latency(List<Measurement> runs, Function<Measurement, String> name) {
        Chart chart = new Chart("percentile of acquisitions", "time to acquire")
                .x(Plots::rarity, PERCENTILES, Plots::percentile)
                .logarithmicY(Plots::time);
        int index = 0;
        for (Measurement run : runs) {
            chart.line(
                    name.apply(run),
                    colour(index++),
                    run.distribution().stream()
                            .map(point -> new double[] {Math.min(99.995, point.get(0)), point.get(1)})
                            .toList());
        }
        return chart;
    }

    /** Rate against the number of those who want the lock. */
    public static Chart growth(List<List<Measurement>> groups, Function<Measurement, String> name) {
        List<Double> ticks = groups.stream()
                .flatMap(List::stream)
                .map(run -> (double) run.load().threads())
                .distinct()
                .sorted()
                .toList();
        Chart chart = new Chart("threads that want the lock", "acquisitions per second")
                .x(Math::log10, ticks, Text::tick)
                .logarithmicY(Text::tick)
                .dots();
        int index = 0;
        for (List<Measurement> group : groups) {
            List<double[]> points = new ArrayList<>();
            for (Measurement run : group) {
                run.figure(Figure.RATE)
                        .ifPresent(rate -> points.add(new double[] {run.load().threads(), rate}));
            }
            if (!group.isEmpty()) {
                chart.line(name.apply(group.get(0)), colour(index++), points);
            }
        }
        return chart;
    }

    /** Rate over time: a line that is not level has not warmed up, or drifts. */
    public static Chart overTime(List<Measurement> runs, Function<Measurement, String> name) {
        Chart chart = new Chart("time, as a share of the run", "acquisitions per second")
                .x(x -> x, List.of(0.0, 25.0, 50.0, 75.0, 100.0), x -> Math.round(x) + " %");
        int index = 0;
        for (Measurement run : runs) {
            List<double[]> points = new ArrayList<>();
            int slices = run.series().size();
            for (int i = 0; i < slices; i++) {
                points.add(new double[] {(i + 0.5) * 100 / slices, run.series().get(i)});
            }
            chart.line(name.apply(run), colour(index++), points);
        }
        return chart;
    }

    /** CPU time per acquisition, of clients and server. */
    public static GroupedBars cpu(List<Measurement> runs, Function<Measurement, String> name) {
        GroupedBars bars = new GroupedBars("Clients and server", "logarithmic: shorter is better", Text::micros)
                .legend("all client JVMs", colour(0))
                .legend("the server, if it is local", colour(1));
        for (Measurement run : runs) {
            run.figure(Figure.CLIENT_CPU)
                    .ifPresent(time -> bars.bar(name.apply(run), time, colour(0), Optional.empty()));
            run.figure(Figure.SERVER_CPU).stream()
                    .filter(time -> time > 0)
                    .forEach(time -> bars.bar(name.apply(run), time, colour(1), Optional.empty()));
        }
        return bars;
    }

    private static double rarity(double percentile) {
        return -Math.log10(1 - Math.min(percentile, 99.995) / 100);
    }

    private static String percentile(double value) {
        return value == Math.rint(value) ? Integer.toString((int) value) : Double.toString(value);
    }

    private static String time(double micros) {
        if (micros < 1) {
            return Math.round(micros * 1000) + " ns";
        }
        return micros < 1000
                ? Math.round(micros) + " µs"
                : micros < 1e6 ? Math.round(micros / 1e3) + " ms" : Math.round(micros / 1e6) + " s";
    }
}
