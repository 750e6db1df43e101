package io.holdfast.bench;

import io.holdfast.bench.server.ServerProbe;
import io.holdfast.bench.worker.LoadThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;

/**
 * The outcome of one run.
 *
 * <p>Coordinated omission: a stall keeps a lone thread from asking, and those questions are missing. So the percentiles of
 * a load of one thread are corrected, with the mean cycle as the expected interval. Where threads wait for each other or
 * share few cores, waiting is what is measured: every wait counts as it was, and those that are not over at the end count
 * for {@link Figure#LONGEST_WAIT}.
 *
 * @param refused why it has no result
 * @param series the rate over time, in equal slices
 * @param distribution pairs of percentile and microseconds
 */
public record Measurement(
        String store,
        String contender,
        ContenderSpec.Kind kind,
        Scenario scenario,
        Load load,
        Optional<String> refused,
        Map<Figure, Double> figures,
        List<Double> series,
        List<List<Double>> distribution) {

    private static final double[] PERCENTILES = {
        0, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 92.5, 95, 97, 98, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 100
    };

    public static Measurement refused(ContenderSpec spec, Scenario scenario, Load load, String reason) {
        return new Measurement(
                spec.store(),
                spec.name(),
                spec.kind(),
                scenario,
                load,
                Optional.of(reason),
                Map.of(),
                List.of(),
                List.of());
    }

    public OptionalDouble figure(Figure figure) {
        Double value = figures.get(figure);
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    /** Which run this is one of, whoever ran it when. */
    public String key() {
        return store + "|" + contender + "|" + scenario.key() + "|" + load.threads();
    }

    public static Measurement of(
            ContenderSpec spec,
            Scenario scenario,
            Load load,
            double seconds,
            List<Map<String, Object>> results,
            List<Double> series,
            ServerProbe.Sample before,
            ServerProbe.Sample after) {
        Histogram acquires = new Histogram(3);
        Histogram cycles = new Histogram(3);
        for (Map<String, Object> result : results) {
            acquires.add(LoadThread.decode((String) result.get("acquires")));
            cycles.add(LoadThread.decode((String) result.get("cycles")));
        }
        long number = acquires.getTotalCount();
        if (number == 0) {
            return refused(spec, scenario, load, "nobody got the lock in " + Math.round(seconds * 1000) + " ms");
        }
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.RATE, number / seconds);
        figures.put(Figure.CYCLE_P50, micros(cycles.getValueAtPercentile(50)));
        figures.put(Figure.CYCLE_MEAN, cycles.getMean() / 1e3);
        figures.put(Figure.MEAN, acquires.getMean() / 1e3);
        Histogram shown = load.threads() == 1
                ? acquires.copyCorrectedForCoordinatedOmission(Math.max(1, (long) cycles.getMean()))
                : acquires;
        addLatency(figures, shown);
        long openNanos = results.stream()
                .mapToLong(result -> (Long) result.get("openWaitNanos"))
                .max()
                .orElse(0);
        figures.put(Figure.LONGEST_WAIT, micros(Math.max(openNanos, acquires.getMaxValue())));
        addFairness(figures, load, results, number);
        long cpuNanos = results.stream()
                .mapToLong(result -> (Long) result.get("cpuNanos"))
                .sum();
        figures.put(Figure.CLIENT_CPU, cpuNanos / 1e3 / number);
        after.cpuNanosSince(before).ifPresent(nanos -> figures.put(Figure.SERVER_CPU, nanos / 1e3 / number));
        after.commandsSince(before).ifPresent(count -> figures.put(Figure.COMMANDS, count / number));
        return new Measurement(
                spec.store(),
                spec.name(),
                spec.kind(),
                scenario,
                load,
                Optional.empty(),
                figures,
                List.copyOf(series),
                distribution(shown));
    }

    public static Measurement ofHeld(
            ContenderSpec spec,
            Load load,
            Map<String, Object> result,
            ServerProbe.Sample before,
            ServerProbe.Sample after) {
        double elapsedNanos = (Long) result.get("elapsedNanos");
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.ADDED_THREADS, ((Long) result.get("threads")).doubleValue());
        figures.put(Figure.HEAP_PER_LEASE, (Long) result.get("heapBytes") / (double) load.locks());
        figures.put(Figure.CLIENT_CORE_SHARE, (Long) result.get("cpuNanos") / elapsedNanos);
        after.cpuNanosSince(before)
                .ifPresent(nanos -> figures.put(
                        Figure.SERVER_CORE_SHARE, nanos / load.section().toNanos()));
        after.commandsSince(before)
                .ifPresent(count -> figures.put(
                        Figure.COMMANDS_PER_SECOND, count * 1e9 / load.section().toNanos()));
        return new Measurement(
                spec.store(),
                spec.name(),
                spec.kind(),
                Scenario.HELD,
                load,
                Optional.empty(),
                figures,
                List.of(),
                List.of());
    }

    private static void addLatency(Map<Figure, Double> figures, Histogram acquires) {
        figures.put(Figure.P50, micros(acquires.getValueAtPercentile(50)));
        figures.put(Figure.P70, micros(acquires.getValueAtPercentile(70)));
        figures.put(Figure.P90, micros(acquires.getValueAtPercentile(90)));
        figures.put(Figure.P99, micros(acquires.getValueAtPercentile(99)));
        figures.put(Figure.MAX, micros(acquires.getMaxValue()));
    }

    private static void addFairness(
            Map<Figure, Double> figures, Load load, List<Map<String, Object>> results, long number) {
        List<Long> perThread = new ArrayList<>();
        double leastShare = 1;
        for (int i = 0; i < results.size(); i++) {
            List<Long> counts = ((List<?>) results.get(i).get("perThread"))
                    .stream().map(count -> (Long) count).toList();
            perThread.addAll(counts);
            double got = counts.stream().mapToLong(Long::longValue).sum();
            leastShare = Math.min(leastShare, got * load.threads() / (number * (double) load.threadsOf(i)));
        }
        LongStream counts = perThread.stream().mapToLong(Long::longValue);
        var statistics = counts.summaryStatistics();
        figures.put(Figure.MOST_PER_THREAD, (double) statistics.getMax());
        figures.put(Figure.LEAST_PER_THREAD, (double) statistics.getMin());
        figures.put(Figure.STARVED_THREADS, (double)
                perThread.stream().filter(count -> count == 0).count());
        figures.put(Figure.LEAST_JVM_SHARE, leastShare);
        if (load.isContended()) {
            long again = results.stream()
                    .mapToLong(result -> (Long) result.get("again"))
                    .sum();
            figures.put(Figure.AGAIN_SHARE, again / (double) number);
        }
    }

    private static List<List<Double>> distribution(Histogram acquires) {
        List<List<Double>> points = new ArrayList<>();
        for (double percentile : PERCENTILES) {
            points.add(List.of(percentile, micros(acquires.getValueAtPercentile(percentile))));
        }
        return points;
    }

    private static double micros(long nanos) {
        return nanos / 1e3;
    }

    /** For files. */
    public Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("store", store);
        json.put("contender", contender);
        json.put("kind", kind.name().toLowerCase(Locale.ROOT));
        json.put("scenario", scenario.key());
        json.put("jvms", load.jvms());
        json.put("threads", load.threads());
        json.put("locks", load.locks());
        json.put("sectionMicros", load.section().toNanos() / 1e3);
        refused.ifPresent(reason -> json.put("refused", reason));
        for (Figure figure : Figure.values()) {
            figure(figure).ifPresent(value -> json.put(figure.key(), value));
        }
        json.put("series", series);
        json.put("distribution", distribution);
        return json;
    }

    /** The inverse of {@link #toJson}. */
    public static Measurement fromJson(Map<String, Object> json) {
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        for (Figure figure : Figure.values()) {
            if (json.get(figure.key()) instanceof Number value) {
                figures.put(figure, value.doubleValue());
            }
        }
        Load load = new Load(
                number(json, "jvms").intValue(),
                number(json, "threads").intValue(),
                number(json, "locks").intValue(),
                Duration.ofNanos(Math.round(number(json, "sectionMicros").doubleValue() * 1e3)));
        return new Measurement(
                (String) json.get("store"),
                (String) json.get("contender"),
                ContenderSpec.Kind.valueOf(((String) json.get("kind")).toUpperCase(Locale.ROOT)),
                Scenario.parse((String) json.get("scenario")).iterator().next(),
                load,
                Optional.ofNullable((String) json.get("refused")),
                figures,
                doubles(json.getOrDefault("series", List.of())),
                ((List<?>) json.getOrDefault("distribution", List.of()))
                        .stream().map(Measurement::doubles).toList());
    }

    private static Number number(Map<String, Object> json, String field) {
        return (Number) json.get(field);
    }

    private static List<Double> doubles(Object list) {
        return ((List<?>) list)
                .stream().map(value -> ((Number) value).doubleValue()).toList();
    }
}
