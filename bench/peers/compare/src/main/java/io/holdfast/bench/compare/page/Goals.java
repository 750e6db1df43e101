package io.holdfast.bench.compare.page;

import io.holdfast.bench.Figure;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.compare.arena.Arenas;
import io.holdfast.bench.compare.kept.Kept;
import io.holdfast.bench.compare.kept.Part;
import io.holdfast.bench.compare.spot.Crowds;
import io.holdfast.bench.compare.spot.History;
import io.holdfast.bench.compare.spot.Spot;
import io.holdfast.bench.report.Text;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/** The speed to reach, and whether it is. */
final class Goals {

    private static final List<String> SERVERS = List.of("Redis", "etcd", "ZooKeeper", "MariaDB", "PostgreSQL");
    private static final List<String> SQL = List.of("MariaDB", "PostgreSQL");
    private static final Map<String, Double> FREE_BOUNDS = Map.of("etcd", 1.5, "ZooKeeper", 1.2);
    private static final double FLAT = 1.25;

    private final Results results;
    private final Kept kept;
    private final List<Goal> goals = new ArrayList<>();

    private Goals(Results results, Kept kept) {
        this.results = results;
        this.kept = kept;
    }

    /**
     * What was to be reached, and what was.
     *
     * @param parts in which both sides of it were measured
     * @param profile what the runs themselves say about where the time goes
     */
    record Goal(
            String scenario,
            String what,
            boolean atLeast,
            double bound,
            OptionalDouble reached,
            Set<Part> parts,
            String profile) {

        /** By the figures as they are shown: 0.97 is not less than 0.97. */
        boolean isMet() {
            if (reached.isEmpty()) {
                return false;
            }
            double shown = shown(reached.getAsDouble());
            return atLeast ? shown >= shown(bound) : shown <= shown(bound);
        }

        private static double shown(double value) {
            return Double.isInfinite(value)
                    ? value
                    : Double.parseDouble(Text.number(value).replace(",", ""));
        }
    }

    static List<Goal> of(Results results, Kept kept) {
        Goals goals = new Goals(results, kept);
        goals.free();
        goals.spread();
        goals.strict();
        goals.defaults();
        goals.section();
        goals.growth();
        goals.flat();
        return goals.goals;
    }

    private void free() {
        for (String store : SERVERS) {
            Optional<Summary> ours = results.run(store, Arenas.DEFAULTS, Scenario.FREE);
            Optional<Summary> floor = results.run(store, Arenas.FLOOR, Scenario.FREE);
            atMost(
                    "a",
                    store + ": cycle ÷ floor",
                    FREE_BOUNDS.getOrDefault(store, 1.25),
                    ours,
                    floor,
                    Figure.CYCLE_P50);
            // Not by the median: that of a library which is refused by its own clock now and then says nothing.
            atLeast(
                    "a",
                    store + ": rate ÷ fastest other library",
                    1,
                    ours,
                    results.fastestPeer(store, Scenario.FREE),
                    Figure.RATE);
        }
    }

    private void spread() {
        for (String store : SERVERS) {
            boolean ofRedis = store.equals("Redis");
            if (ofRedis || SQL.contains(store)) {
                atLeast(
                        "b",
                        store + ", 32 locks: rate ÷ floor",
                        ofRedis ? 0.8 : 0.7,
                        results.run(store, Arenas.DEFAULTS, Scenario.SPREAD),
                        results.run(store, Arenas.FLOOR, Scenario.SPREAD),
                        Figure.RATE);
            }
        }
    }

    private void strict() {
        strictOver("Redis", Arenas.BLPOP, 0.5);
        strictOver("etcd", "jetcd", 4);
        strictOver("ZooKeeper", "Curator", 1.4);
        for (String store : SQL) {
            for (String peer : List.of("ShedLock", "Spring JDBC")) {
                strictOver(store, peer, 1);
                Optional<Summary> theirs = results.run(store, peer, Scenario.PROCESSES);
                add(
                        "d",
                        store + ", strict order: longest wait ÷ " + peer,
                        false,
                        1,
                        results.run(store, Arenas.FIFO, Scenario.PROCESSES),
                        theirs,
                        run -> run.worst(Figure.LONGEST_WAIT));
            }
        }
    }

    private void strictOver(String store, String other, double bound) {
        atLeast(
                "d",
                store + ", strict order: rate ÷ " + other,
                bound,
                results.run(store, Arenas.FIFO, Scenario.PROCESSES),
                results.best(store, other, Scenario.PROCESSES),
                Figure.RATE);
    }

    private void defaults() {
        defaultOver("Redis", "Redisson RLock", 20);
        for (String store : SQL) {
            defaultOver(store, "ShedLock", 10);
            defaultOver(store, "Spring JDBC", 10);
        }
        for (String store : SERVERS) {
            Optional<Summary> ours = results.run(store, Arenas.DEFAULTS, Scenario.PROCESSES);
            goals.add(new Goal(
                    "d",
                    store + ": smallest share of a JVM",
                    true,
                    0.5,
                    ours.map(run -> run.median(Figure.LEAST_JVM_SHARE)).orElse(OptionalDouble.empty()),
                    partsOf(ours),
                    ""));
        }
    }

    private void defaultOver(String store, String other, double bound) {
        atLeast(
                "d",
                store + ": rate ÷ " + other,
                bound,
                results.run(store, Arenas.DEFAULTS, Scenario.PROCESSES),
                results.run(store, other, Scenario.PROCESSES),
                Figure.RATE);
    }

    private void section() {
        for (String store : SERVERS) {
            for (String ours : List.of(Arenas.DEFAULTS, Arenas.FIFO)) {
                Optional<Summary> run = results.run(store, ours, Scenario.SECTION);
                Optional<Summary> floor = results.run(store, Arenas.BLPOP, Scenario.SECTION)
                        .or(() -> results.run(store, Arenas.FLOOR, Scenario.FREE));
                goals.add(new Goal(
                        "e",
                        store + ", " + ours + ", 5 ms: rate ÷ floor",
                        true,
                        0.95,
                        ratio(
                                run.map(found -> found.median(Figure.RATE)).orElse(OptionalDouble.empty()),
                                results.floorRate(store, Scenario.SECTION)),
                        partsOf(run, floor),
                        costs(run)));
            }
        }
    }

    private void growth() {
        for (String store : SERVERS) {
            for (String ours : List.of(Arenas.DEFAULTS, Arenas.FIFO)) {
                atLeast(
                        "f",
                        store + ", " + ours + ": rate with 1,000 waiting ÷ with 10",
                        0.8,
                        results.growth(store, ours, 1000),
                        results.growth(store, ours, 10),
                        Figure.RATE);
            }
        }
    }

    private void flat() {
        for (String store : SERVERS) {
            flat(
                    store,
                    "cycle beside 5,000 readers ÷ beside 10",
                    Spot.Kind.READERS,
                    Crowds.FEW_READERS,
                    Crowds.MANY_READERS);
            flat(store, "cycle after 20,000 ÷ after 1,000", Spot.Kind.HISTORY, History.FEW, History.MANY);
            Optional<Kept.Entry<Spot>> few = spot(store, Spot.Kind.WAITERS, Crowds.FEW_WAITERS);
            Optional<Kept.Entry<Spot>> many = spot(store, Spot.Kind.WAITERS, Crowds.MANY_WAITERS);
            addFlat(store, "rate of 10,000 futures ÷ of 100", Spot.Kind.WAITERS, true, 0.8, ratio(many, few), many);
            Optional<Kept.Entry<Spot>> dead = spot(store, Spot.Kind.DEAD, Crowds.DEAD);
            OptionalDouble longer = dead.isPresent()
                            && spot(store, Spot.Kind.DEAD, 0).isPresent()
                    ? OptionalDouble.of(dead.get().what().value()
                            - spot(store, Spot.Kind.DEAD, 0).get().what().value()
                            - Crowds.SHORT_TTL.toSeconds())
                    : OptionalDouble.empty();
            // P4 allows a second beyond the ttl, and a tick on ZooKeeper.
            addFlat(
                    store,
                    "250 behind 1,000 dead, seconds beyond the ttl",
                    Spot.Kind.DEAD,
                    false,
                    store.equals("ZooKeeper") ? 3 : 1,
                    longer.isPresent() ? OptionalDouble.of(Math.max(0, longer.getAsDouble())) : longer,
                    dead);
        }
    }

    private void flat(String store, String what, Spot.Kind kind, long few, long many) {
        Optional<Kept.Entry<Spot>> large = spot(store, kind, many);
        addFlat(store, what, kind, false, FLAT, ratio(large, spot(store, kind, few)), large);
    }

    private void addFlat(
            String store,
            String what,
            Spot.Kind kind,
            boolean atLeast,
            double bound,
            OptionalDouble reached,
            Optional<Kept.Entry<Spot>> measured) {
        goals.add(new Goal(
                String.valueOf(kind.letter()),
                store + ": " + what,
                atLeast,
                bound,
                reached,
                measured.map(spot -> Set.of(spot.part())).orElse(Set.of()),
                ""));
    }

    private Optional<Kept.Entry<Spot>> spot(String store, Spot.Kind kind, long size) {
        return kept.spot(store, Arenas.DEFAULTS, kind, size);
    }

    private static OptionalDouble ratio(Optional<Kept.Entry<Spot>> one, Optional<Kept.Entry<Spot>> other) {
        return ratio(
                one.map(spot -> OptionalDouble.of(spot.what().value())).orElse(OptionalDouble.empty()),
                other.map(spot -> OptionalDouble.of(spot.what().value())).orElse(OptionalDouble.empty()));
    }

    private void atLeast(
            String letter, String what, double bound, Optional<Summary> ours, Optional<Summary> theirs, Figure figure) {
        add(letter, what, true, bound, ours, theirs, run -> run.median(figure));
    }

    private void atMost(
            String letter, String what, double bound, Optional<Summary> ours, Optional<Summary> theirs, Figure figure) {
        add(letter, what, false, bound, ours, theirs, run -> run.median(figure));
    }

    /** How a figure is taken from a run. */
    private interface Look {
        OptionalDouble at(Summary run);
    }

    private void add(
            String letter,
            String what,
            boolean atLeast,
            double bound,
            Optional<Summary> ours,
            Optional<Summary> theirs,
            Look look) {
        goals.add(new Goal(
                letter,
                what,
                atLeast,
                bound,
                ratio(
                        ours.map(look::at).orElse(OptionalDouble.empty()),
                        theirs.map(look::at).orElse(OptionalDouble.empty())),
                partsOf(ours, theirs),
                costs(ours)
                        + theirs.map(run -> "; " + run.contender() + ": " + costs(theirs))
                                .orElse("")));
    }

    private static String costs(Optional<Summary> run) {
        return run.map(found -> Text.micros(found.median(Figure.CLIENT_CPU)) + " of client CPU, "
                        + Text.micros(found.median(Figure.SERVER_CPU)) + " of server CPU, "
                        + Text.number(found.median(Figure.COMMANDS)) + " commands per acquisition")
                .orElse("");
    }

    @SafeVarargs
    private static Set<Part> partsOf(Optional<Summary>... runs) {
        Set<Part> parts = new LinkedHashSet<>();
        for (Optional<Summary> run : runs) {
            run.ifPresent(found -> parts.add(found.part()));
        }
        return parts;
    }

    private static OptionalDouble ratio(OptionalDouble ours, OptionalDouble theirs) {
        return ours.isPresent() && theirs.isPresent() && theirs.getAsDouble() > 0
                ? OptionalDouble.of(ours.getAsDouble() / theirs.getAsDouble())
                : OptionalDouble.empty();
    }
}
