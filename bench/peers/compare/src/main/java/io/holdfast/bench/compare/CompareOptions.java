package io.holdfast.bench.compare;

import io.holdfast.bench.Scenario;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What {@code bench/compare} was asked for. */
@Command(
        name = "bench/compare",
        sortOptions = false,
        description = "Measures Holdfast, other lock libraries and the floors of all stores on real servers, and writes"
                + " docs/performance.md. Runs that are not repeated keep their results, so a comparison can be made in"
                + " parts. Give it a quiet machine.",
        showDefaultValues = true)
final class CompareOptions implements Callable<Integer> {

    private static final Set<Scenario> COMPARED = EnumSet.of(
            Scenario.FREE,
            Scenario.SPREAD,
            Scenario.CROWD,
            Scenario.PROCESSES,
            Scenario.SECTION,
            Scenario.GROWTH,
            Scenario.HELD);

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "STORE",
            description = "redis, redis-aof, etcd, zookeeper, mariadb, postgresql, embedded; default: all")
    private Set<String> stores = Set.of();

    @Option(
            names = "--contenders",
            split = ",",
            paramLabel = "WORD",
            description = "only those whose names contain one of these")
    private Set<String> contenders = Set.of();

    @Option(
            names = "--scenarios",
            paramLabel = "LETTERS",
            description = "a free lock, b 32 locks, c 16 threads, d 4 JVMs, e 5 ms section, f growth, g 10,000 leases;"
                    + " separated by commas, default: all")
    private String scenarios = "";

    @Option(names = "--seconds", paramLabel = "N", description = "of each run")
    private double seconds = 3;

    @Option(names = "--rounds", paramLabel = "N", description = "how often everybody runs")
    private int rounds = 5;

    @Option(names = "--warm-up", paramLabel = "SECONDS", description = "of everybody but raw clients")
    private int warmUp = 20;

    @Option(names = "--json", paramLabel = "FILE", description = "where results are kept")
    private Path json = Path.of("docs/performance/results.json");

    @Option(names = "--docs", paramLabel = "DIR", description = "where the page goes")
    private Path docs = Path.of("docs");

    @Option(names = "--render", description = "only write the page anew, from results kept")
    private boolean renderOnly;

    @Option(names = "--help", usageHelp = true, description = "show this help")
    private boolean help;

    @Override
    public Integer call() throws Exception {
        Compare.compare(this);
        return 0;
    }

    Set<Scenario> scenarios() {
        return scenarios.isEmpty() ? COMPARED : Scenario.parse(scenarios);
    }

    double seconds() {
        return seconds;
    }

    int rounds() {
        return rounds;
    }

    Duration warmUp() {
        return Duration.ofSeconds(warmUp);
    }

    Path json() {
        return json;
    }

    Path docs() {
        return docs;
    }

    boolean renderOnly() {
        return renderOnly;
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
