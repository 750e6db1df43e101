package io.holdfast.bench.compare.page;

import io.holdfast.bench.Figure;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.compare.arena.Arenas;
import io.holdfast.bench.report.GroupedBars;
import io.holdfast.bench.report.Text;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Stream;

/** The first page of the report: five plots, and one sentence about each. */
final class Opening {

    private static final String OURS = "#2f7de1";
    private static final String OURS_STRICT = "#8fb9ee";
    private static final String OTHERS = "#e8743b";
    private static final String FLOOR = "#8a94a3";

    private final Results results;

    Opening(Results results) {
        this.results = results;
    }

    /**
     * One message.
     *
     * @param file without its suffix
     */
    record Figured(String file, String title, String sentence, GroupedBars bars) {}

    /** Those that something was measured of. */
    List<Figured> figures() {
        return Stream.of(oneLock(), free(), waits(), manyLocks(), longLines())
                .filter(figure -> !figure.bars.isEmpty())
                .toList();
    }

    private List<String> stores() {
        return results.stores().stream()
                .filter(store -> !store.contains(",") && !store.equals("memory"))
                .toList();
    }

    private Figured oneLock() {
        String title = "One lock that 16 threads of four processes want";
        GroupedBars bars = new GroupedBars(title, "times a second, logarithmic: longer is better", Text::number)
                .legend("Holdfast, with local handoff (the default)", OURS)
                .legend("Holdfast, strict order: the store is asked every time", OURS_STRICT)
                .legend("the fastest other library", OTHERS);
        contended(bars, Scenario.PROCESSES, run -> run.median(Figure.RATE));
        String sentence = sentence(
                results.run("Redis", Arenas.FIFO, Scenario.PROCESSES),
                results.run("Redis", Arenas.DEFAULTS, Scenario.PROCESSES),
                results.run("Redis", "Redisson RLock", Scenario.PROCESSES),
                (strict, handing, peer) -> "On Redis the lock changes hands " + rate(strict)
                        + " times a second in strict order, where Redisson's makes " + rate(peer)
                        + "; by default threads of one process first pass it on among themselves, without asking Redis, which gives "
                        + rate(handing) + ".");
        return new Figured("headline", title, sentence, bars);
    }

    private Figured free() {
        String title = "A lock nobody else wants: taken and given back";
        GroupedBars bars = new GroupedBars(title, "median, logarithmic: shorter is better", Text::micros)
                .legend("Holdfast", OURS)
                .legend("the quickest other library", OTHERS)
                .legend("the bare requests no lock can do without", FLOOR);
        besideFloor(bars, Scenario.FREE, run -> run.median(Figure.CYCLE_P50));
        String ratios = perStore(store -> ratio(
                results.figure(store, Arenas.DEFAULTS, Scenario.FREE, Figure.CYCLE_P50),
                results.figure(store, Arenas.FLOOR, Scenario.FREE, Figure.CYCLE_P50)));
        return new Figured(
                "free",
                title,
                "A lock has a lease and a token; beside the bare requests without either, a free one takes this many times as long: "
                        + ratios + ".",
                bars);
    }

    private Figured waits() {
        String title = "The longest wait: 16 threads, each holds for 5 ms";
        GroupedBars bars = new GroupedBars(title, "logarithmic: shorter is better, 80 ms is ideal", Text::micros)
                .legend("Holdfast, with local handoff (the default)", OURS)
                .legend("Holdfast, strict order", OURS_STRICT)
                .legend("the fastest other library", OTHERS);
        contended(bars, Scenario.SECTION, run -> run.worst(Figure.LONGEST_WAIT));
        String others = stores().stream()
                .flatMap(store -> results.fastestPeer(store, Scenario.SECTION).stream())
                .max(Comparator.comparingDouble(
                        run -> run.worst(Figure.LONGEST_WAIT).orElse(0)))
                .map(run -> "; " + run.contender() + " let one wait " + Text.micros(run.worst(Figure.LONGEST_WAIT)))
                .orElse("");
        OptionalDouble longest = stores().stream()
                .flatMap(store -> results.run(store, Arenas.FIFO, Scenario.SECTION).stream())
                .flatMapToDouble(run -> run.worst(Figure.LONGEST_WAIT).stream())
                .max();
        return new Figured(
                "waits",
                title,
                "Whoever waits has a turn: in strict order nobody waited longer than " + Text.micros(longest)
                        + ", on any store" + others + ".",
                bars);
    }

    private Figured manyLocks() {
        String title = "32 threads of one process, a lock for each";
        GroupedBars bars = new GroupedBars(
                        title, "times a second together, logarithmic: longer is better", Text::number)
                .legend("Holdfast", OURS)
                .legend("the fastest other library", OTHERS)
                .legend("the bare requests no lock can do without", FLOOR);
        besideFloor(bars, Scenario.SPREAD, run -> run.median(Figure.RATE));
        String ratios = perStore(store -> ratio(
                results.rate(store, Arenas.DEFAULTS, Scenario.SPREAD), results.floorRate(store, Scenario.SPREAD)));
        return new Figured(
                "many-locks",
                title,
                "Different locks do not wait for each other: 32 of them at once make this share of what bare requests make: "
                        + ratios + ".",
                bars);
    }

    private Figured longLines() {
        String title = "One lock, strict order: 10 and 1,000 threads";
        GroupedBars bars = new GroupedBars(title, "times a second, logarithmic: longer is better", Text::number)
                .legend("10 threads", OURS_STRICT)
                .legend("1,000 threads", OURS);
        for (String store : stores()) {
            bar(bars, results.growth(store, Arenas.FIFO, 10), run -> run.median(Figure.RATE), OURS_STRICT);
            bar(bars, results.growth(store, Arenas.FIFO, 1000), run -> run.median(Figure.RATE), OURS);
        }
        String ratios = perStore(store -> ratio(growth(store, 1000), growth(store, 10)));
        return new Figured(
                "long-lines",
                title,
                "With 1,000 threads in the queue instead of 10, a lock changes hands this many times as often: "
                        + ratios + ".",
                bars);
    }

    private OptionalDouble growth(String store, int waiters) {
        return results.growth(store, Arenas.FIFO, waiters)
                .map(run -> run.median(Figure.RATE))
                .orElse(OptionalDouble.empty());
    }

    private interface OfThree {
        String say(Summary one, Summary two, Summary three);
    }

    private static String sentence(
            Optional<Summary> one, Optional<Summary> two, Optional<Summary> three, OfThree words) {
        return one.isPresent() && two.isPresent() && three.isPresent()
                ? words.say(one.get(), two.get(), three.get())
                : "";
    }

    /** As in {@code 1.25 on Redis, 1.50 on etcd}. */
    private String perStore(Function<String, OptionalDouble> figure) {
        List<String> texts = new ArrayList<>();
        for (String store : stores()) {
            figure.apply(store).ifPresent(value -> texts.add(Text.number(value) + " on " + store));
        }
        return String.join(", ", texts);
    }

    private static String rate(Summary run) {
        return Text.rate(run.median(Figure.RATE));
    }

    private static OptionalDouble ratio(OptionalDouble one, OptionalDouble other) {
        return one.isPresent() && other.isPresent() && other.getAsDouble() > 0
                ? OptionalDouble.of(one.getAsDouble() / other.getAsDouble())
                : OptionalDouble.empty();
    }

    private interface Look {
        OptionalDouble at(Summary run);
    }

    private void contended(GroupedBars bars, Scenario scenario, Look look) {
        for (String store : stores()) {
            bar(bars, results.run(store, Arenas.DEFAULTS, scenario), look, OURS);
            bar(bars, results.run(store, Arenas.FIFO, scenario), look, OURS_STRICT);
            bar(bars, results.fastestPeer(store, scenario), look, OTHERS);
        }
    }

    private void besideFloor(GroupedBars bars, Scenario scenario, Look look) {
        for (String store : stores()) {
            bar(bars, results.run(store, Arenas.DEFAULTS, scenario), look, OURS);
            bar(bars, results.fastestPeer(store, scenario), look, OTHERS);
            bar(bars, results.run(store, Arenas.FLOOR, scenario), look, FLOOR);
        }
    }

    /** Other libraries are named beside theirs. */
    private static void bar(GroupedBars bars, Optional<Summary> run, Look look, String colour) {
        run.ifPresent(found -> look.at(found)
                .ifPresent(value -> bars.bar(
                        found.store(),
                        value,
                        colour,
                        colour.equals(OTHERS) ? Optional.of(found.contender()) : Optional.empty())));
    }
}
