package io.holdfast.bench.compare.kept;

import io.holdfast.bench.Machine;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * What was measured in one go, and under which conditions.
 *
 * @param id in the file of results
 */
public record Part(String id, Map<String, String> facts) {

    public static final String COMMIT = "commit";
    public static final String STARTED = "started";
    public static final String STORE = "store";
    public static final String LOAD = "load before";
    public static final String PACE = "pace";

    public Part {
        facts = new LinkedHashMap<>(facts);
    }

    /** One that begins now, on the commit that is checked out. */
    public static Part now(String store, String pace, Map<String, String> versions) {
        String started = OffsetDateTime.now(ZoneOffset.UTC)
                .truncatedTo(ChronoUnit.SECONDS)
                .toString();
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put(STORE, store);
        facts.put(COMMIT, commit());
        facts.put(STARTED, started);
        facts.put(PACE, pace);
        facts.put(
                LOAD,
                String.format(
                        Locale.ROOT,
                        "%.2f",
                        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()));
        facts.putAll(Machine.facts());
        facts.putAll(versions);
        return new Part(started + " " + store, facts);
    }

    public String fact(String name) {
        return facts.getOrDefault(name, "unknown");
    }

    /** Figures of different ones do not compare. */
    public String machine() {
        return fact("processor") + ", " + fact("cores");
    }

    public static String commit() {
        try {
            // What the comparison itself writes is no change of what is measured.
            Process git = new ProcessBuilder(
                            "sh", "-c", "git rev-parse --short HEAD; git status --porcelain -- '*/src/main' ':!bench'")
                    .redirectErrorStream(true)
                    .start();
            String[] lines = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\n");
            return lines[0].strip() + (lines.length > 1 ? " with changes" : "");
        } catch (IOException noGit) {
            return "unknown";
        }
    }
}
