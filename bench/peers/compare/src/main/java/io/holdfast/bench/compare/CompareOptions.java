package io.holdfast.bench.compare;

import io.holdfast.bench.Scenario;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What {@code bench/compare} was asked for. */
@Command(
        name = "bench/compare",
        sortOptions = false,
        description = "Measures Holdfast, other lock libraries and the floors of all stores on real servers, and writes"
                + " docs/performance.md. Each store is a part of its own: what is not measured again keeps its result,"
                + " with the commit and the conditions it was measured under. Give it a quiet machine.",
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

    private static final Set<Character> SPOTS = Set.of('i', 'j', 'k', 'l');

    @Option(
            names = {"--only", "--part"},
            split = ",",
            paramLabel = "STORE",
            description =
                    "redis, redis-aof, etcd, zookeeper, mariadb, postgresql, embedded; default: all, with --minutes the"
                            + " five servers")
    private Set<String> stores = Set.of();

    @Option(
            names = "--minutes",
            paramLabel = "N",
            description = "stop after about so long: every store has its share, and the most telling runs come first."
                    + " Unless told otherwise with --seconds 2 --rounds 3 --warm-up 10")
    private @Nullable Double minutes;

    @Option(names = "--missing", description = "only what was not measured yet at the commit that is checked out")
    private boolean missing;

    @Option(
            names = "--contenders",
            split = ",",
            paramLabel = "WORD",
            description = "only those whose names contain one of these")
    private Set<String> contenders = Set.of();

    @Option(
            names = "--scenarios",
            split = ",",
            paramLabel = "LETTER",
            description = "a free lock, b 32 locks, c 16 threads, d 4 JVMs, e 5 ms section, f growth, g 10,000 leases,"
                    + " i crowds, j history, k cold start, l 1 ms of network; default: all")
    private Set<Character> scenarios = Set.of();

    @Option(names = "--seconds", paramLabel = "N", description = "of each run; default: 3")
    private @Nullable Double seconds;

    @Option(names = "--rounds", paramLabel = "N", description = "how often everybody runs; default: 5")
    private @Nullable Integer rounds;

    @Option(
            names = "--warm-up",
            paramLabel = "SECONDS",
            description = "of everybody but raw clients, at least; it goes on while the rate rises; default: 20")
    private @Nullable Integer warmUp;

    @Option(names = "--json", paramLabel = "FILE", description = "where results are kept")
    private Path json = Path.of("docs/performance/results.json");

    @Option(names = "--docs", paramLabel = "DIR", description = "where the page goes")
    private Path docs = Path.of("docs");

    @Option(names = "--plan", description = "only say what would be run, and for how long")
    private boolean planOnly;

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
        if (scenarios.isEmpty()) {
            return COMPARED;
        }
        return scenarios.stream()
                .filter(letter -> !SPOTS.contains(letter))
                .flatMap(letter -> Scenario.parse(letter.toString()).stream())
                .collect(Collectors.toSet());
    }

    /** Whether these spots are wanted. */
    boolean isSpot(char letter) {
        return scenarios.isEmpty() || scenarios.contains(letter);
    }

    Optional<Duration> time() {
        return minutes == null ? Optional.empty() : Optional.of(Duration.ofSeconds(Math.round(minutes * 60)));
    }

    boolean onlyMissing() {
        return missing;
    }

    double seconds() {
        return seconds != null ? seconds : minutes == null ? 3 : 2;
    }

    int rounds() {
        return rounds != null ? rounds : minutes == null ? 5 : 3;
    }

    Duration warmUp() {
        return Duration.ofSeconds(warmUp != null ? warmUp : minutes == null ? 20 : 10);
    }

    Path json() {
        return json;
    }

    Path docs() {
        return docs;
    }

    boolean planOnly() {
        return planOnly;
    }

    boolean renderOnly() {
        return renderOnly;
    }

    boolean isWanted(String store) {
        return stores.isEmpty()
                ? minutes == null || !store.equals("redis-aof") && !store.equals("embedded")
                : stores.contains(store);
    }

    /** By any part of its name. */
    boolean isContender(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return contenders.isEmpty()
                || contenders.stream().anyMatch(word -> lower.contains(word.toLowerCase(Locale.ROOT)));
    }
}
