package io.holdfast.bench.compare;

import io.holdfast.bench.Json;
import io.holdfast.bench.report.Text;
import java.util.List;
import java.util.Map;

/** The results of {@code bench/micro} as a table. */
final class MicroTable {

    private MicroTable() {}

    /** @param json as JMH writes it: a list */
    static String of(String json) {
        StringBuilder table =
                new StringBuilder("## Micro\n\nWhat the library itself costs, by JMH: one operation is one"
                        + " acquisition and its release, unless its name says otherwise.\n\n| benchmark | threads | time | error |\n"
                        + "|---|---|---|---|\n");
        for (Object element : (List<?>) Json.read("{\"runs\":" + json + "}").get("runs")) {
            Map<?, ?> run = (Map<?, ?>) element;
            Map<?, ?> metric = (Map<?, ?>) run.get("primaryMetric");
            String name = ((String) run.get("benchmark")).replaceFirst("io\\.holdfast\\.internal\\.", "");
            table.append("| ")
                    .append(name)
                    .append(" | ")
                    .append(run.get("threads"))
                    .append(" | ")
                    .append(nanos(metric.get("score")))
                    .append(" | ± ")
                    .append(nanos(metric.get("scoreError")))
                    .append(" |\n");
        }
        return table.append('\n').toString();
    }

    private static String nanos(Object value) {
        return value instanceof Number number ? Text.number(number.doubleValue()) + " ns" : Text.NONE;
    }
}
