package io.holdfast.bench.compare;

import io.holdfast.bench.Scenario;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** What {@code bench/compare} was asked for. */
record CompareOptions(
        Set<String> stores,
        Set<String> contenders,
        Set<Scenario> scenarios,
        double seconds,
        int rounds,
        Duration warmUp,
        Path json,
        Path docs,
        Path peers,
        boolean renderOnly) {

    private static final Set<Scenario> COMPARED = EnumSet.of(
            Scenario.FREE,
            Scenario.SPREAD,
            Scenario.CROWD,
            Scenario.PROCESSES,
            Scenario.SECTION,
            Scenario.GROWTH,
            Scenario.HELD);

    static CompareOptions parse(String[] arguments) {
        CompareOptions options = new CompareOptions(
                Set.of(),
                Set.of(),
                COMPARED,
                3,
                5,
                Duration.ofSeconds(20),
                Path.of("docs/performance/results.json"),
                Path.of("docs"),
                Path.of("bench/peers"),
                false);
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i].equals("--render")) {
                options = options.rendering();
            } else if (i + 1 < arguments.length) {
                options = options.with(arguments[i], arguments[++i]);
            } else {
                throw new IllegalArgumentException(arguments[i] + " needs a value");
            }
        }
        return options;
    }

    private CompareOptions rendering() {
        return new CompareOptions(stores, contenders, scenarios, seconds, rounds, warmUp, json, docs, peers, true);
    }

    private CompareOptions with(String option, String value) {
        Set<String> words = Set.copyOf(List.of(value.split(",")));
        return switch (option) {
            case "--only" ->
                new CompareOptions(
                        words, contenders, scenarios, seconds, rounds, warmUp, json, docs, peers, renderOnly);
            case "--contenders" ->
                new CompareOptions(stores, words, scenarios, seconds, rounds, warmUp, json, docs, peers, renderOnly);
            case "--scenarios" ->
                new CompareOptions(
                        stores,
                        contenders,
                        Scenario.parse(value),
                        seconds,
                        rounds,
                        warmUp,
                        json,
                        docs,
                        peers,
                        renderOnly);
            case "--seconds" ->
                new CompareOptions(
                        stores,
                        contenders,
                        scenarios,
                        Double.parseDouble(value),
                        rounds,
                        warmUp,
                        json,
                        docs,
                        peers,
                        renderOnly);
            case "--rounds" ->
                new CompareOptions(
                        stores,
                        contenders,
                        scenarios,
                        seconds,
                        Integer.parseInt(value),
                        warmUp,
                        json,
                        docs,
                        peers,
                        renderOnly);
            case "--warm-up" ->
                new CompareOptions(
                        stores,
                        contenders,
                        scenarios,
                        seconds,
                        rounds,
                        Duration.ofSeconds(Long.parseLong(value)),
                        json,
                        docs,
                        peers,
                        renderOnly);
            case "--json" ->
                new CompareOptions(
                        stores,
                        contenders,
                        scenarios,
                        seconds,
                        rounds,
                        warmUp,
                        Path.of(value),
                        docs,
                        peers,
                        renderOnly);
            case "--docs" ->
                new CompareOptions(
                        stores,
                        contenders,
                        scenarios,
                        seconds,
                        rounds,
                        warmUp,
                        json,
                        Path.of(value),
                        peers,
                        renderOnly);
            default -> throw new IllegalArgumentException("unknown option " + option + "; see bench/compare");
        };
    }

    boolean isWanted(String store) {
        return stores.isEmpty() || stores.contains(store);
    }

    /** By any part of its name. */
    boolean isContender(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return contenders.isEmpty()
                || contenders.stream().anyMatch(word -> lower.contains(word.toLowerCase(Locale.ROOT)));
    }
}
