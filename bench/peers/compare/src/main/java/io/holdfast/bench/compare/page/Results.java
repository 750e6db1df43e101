package io.holdfast.bench.compare.page;

import io.holdfast.bench.ContenderSpec.Kind;
import io.holdfast.bench.Figure;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.compare.arena.Arenas;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;

/** Finds figures of a comparison, stores and contenders always in the same order. Immutable. */
record Results(List<Summary> summaries) {

    private static final double SECTION_MICROS = 5000;

    private static final List<String> STORES =
            List.of("Redis", Arenas.REDIS_SYNCED, "etcd", "ZooKeeper", "MariaDB", "PostgreSQL", "memory");

    Results {
        summaries = summaries.stream()
                .sorted(Comparator.comparingInt((Summary summary) -> STORES.indexOf(summary.store()))
                        .thenComparing(Summary::scenario)
                        .thenComparing(Summary::kind)
                        .thenComparing(Summary::contender)
                        .thenComparing(summary -> summary.load().threads()))
                .toList();
    }

    List<Summary> of(String store, Scenario scenario) {
        return summaries.stream()
                .filter(summary -> summary.store().equals(store) && summary.scenario() == scenario)
                .toList();
    }

    Set<String> stores() {
        return summaries.stream().map(Summary::store).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Of libraries with leases, the one with the most acquisitions on the machine on which ours were measured. */
    Optional<Summary> fastestPeer(String store, Scenario scenario) {
        Optional<String> machine =
                run(store, Arenas.DEFAULTS, scenario).map(ours -> ours.part().machine());
        return of(store, scenario).stream()
                .filter(run ->
                        run.kind() == Kind.PEER && run.median(Figure.RATE).isPresent())
                .filter(run ->
                        machine.isEmpty() || machine.get().equals(run.part().machine()))
                .max(Comparator.comparingDouble(run -> run.median(Figure.RATE).getAsDouble()));
    }

    Optional<Summary> run(String store, String contender, Scenario scenario) {
        return of(store, scenario).stream()
                .filter(summary -> summary.contender().equals(contender))
                .findFirst();
    }

    Optional<Summary> growth(String store, String contender, int waiters) {
        return of(store, Scenario.GROWTH).stream()
                .filter(summary ->
                        summary.contender().equals(contender) && summary.load().threads() == waiters)
                .findFirst();
    }

    OptionalDouble figure(String store, String contender, Scenario scenario, Figure figure) {
        return run(store, contender, scenario).map(run -> run.median(figure)).orElse(OptionalDouble.empty());
    }

    OptionalDouble rate(String store, String contender, Scenario scenario) {
        return figure(store, contender, scenario, Figure.RATE);
    }

    /** The one with the most acquisitions of those whose names begin so. */
    Optional<Summary> best(String store, String prefix, Scenario scenario) {
        return of(store, scenario).stream()
                .filter(run -> run.contender().startsWith(prefix)
                        && run.median(Figure.RATE).isPresent())
                .max(Comparator.comparingDouble(run -> run.median(Figure.RATE).getAsDouble()));
    }

    /**
     * The rate no lock of this store can pass. Measured where a raw client can do the same thing. Contended, only Redis has
     * such a thing (BLPOP); on SQL, two statements one after the other; on etcd and ZooKeeper, one write per handover.
     */
    OptionalDouble floorRate(String store, Scenario scenario) {
        if (!scenario.isContended()) {
            return rate(store, Arenas.FLOOR, scenario);
        }
        OptionalDouble blpop = rate(store, Arenas.BLPOP, scenario);
        if (blpop.isPresent()) {
            return blpop;
        }
        OptionalDouble cycle = figure(store, Arenas.FLOOR, Scenario.FREE, Figure.CYCLE_MEAN);
        if (cycle.isEmpty() || scenario == Scenario.GROWTH) {
            return OptionalDouble.empty();
        }
        boolean twoStatements = store.equals("MariaDB") || store.equals("PostgreSQL");
        double micros = cycle.getAsDouble() / (twoStatements ? 1 : 2);
        return OptionalDouble.of(1e6 / (micros + (scenario == Scenario.SECTION ? SECTION_MICROS : 0)));
    }
}
