package io.holdfast.bench.compare.page;

import io.holdfast.bench.Json;
import io.holdfast.bench.report.Text;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/** The results of {@code bench/micro}; empty if it was not run. */
record Micro(List<Run> runs) {

    /**
     * One benchmark.
     *
     * @param parameters as a reader understands them, or empty
     * @param nanos per operation
     * @param error how sure that is
     */
    record Run(String benchmark, String parameters, Object threads, OptionalDouble nanos, OptionalDouble error) {}

    /** @param file as JMH writes it: a list */
    static Micro read(Path file) throws IOException {
        if (!Files.exists(file)) {
            return new Micro(List.of());
        }
        List<?> runs =
                (List<?>) Json.read("{\"runs\":" + Files.readString(file) + "}").get("runs");
        return new Micro(runs.stream().map(run -> run((Map<?, ?>) run)).toList());
    }

    private static Run run(Map<?, ?> run) {
        Map<?, ?> metric = (Map<?, ?>) run.get("primaryMetric");
        String name = ((String) run.get("benchmark")).replaceFirst("io\\.holdfast\\.[a-z.]+\\.", "");
        String parameters = run.get("params") instanceof Map<?, ?> named
                ? named.entrySet().stream()
                        .map(parameter -> parameter.getKey() + " " + parameter.getValue())
                        .collect(Collectors.joining(", "))
                : "";
        return new Run(
                name, parameters, run.get("threads"), number(metric.get("score")), number(metric.get("scoreError")));
    }

    private static OptionalDouble number(Object value) {
        return value instanceof Number number ? OptionalDouble.of(number.doubleValue()) : OptionalDouble.empty();
    }

    OptionalDouble nanos(String benchmark) {
        return runs.stream()
                .filter(run -> run.benchmark().equals(benchmark))
                .map(Run::nanos)
                .findFirst()
                .orElse(OptionalDouble.empty());
    }

    String table() {
        StringBuilder table =
                new StringBuilder("## Micro\n\nWhat the library itself costs, by JMH: one operation is one"
                        + " acquisition and its release, unless its name says otherwise.\n\n| benchmark | with | threads | time | error |\n"
                        + "|---|---|---|---|---|\n");
        for (Run run : runs) {
            table.append("| %s | %s | %s | %s | ± %s |\n"
                    .formatted(run.benchmark(), run.parameters(), run.threads(), text(run.nanos()), text(run.error())));
        }
        return table.append('\n').toString();
    }

    private static String text(OptionalDouble nanos) {
        return nanos.isPresent() ? Text.number(nanos.getAsDouble()) + " ns" : Text.NONE;
    }
}
