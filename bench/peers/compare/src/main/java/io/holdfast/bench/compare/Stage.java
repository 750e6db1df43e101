package io.holdfast.bench.compare;

import static io.holdfast.bench.Scenario.CROWD;
import static io.holdfast.bench.Scenario.FREE;
import static io.holdfast.bench.Scenario.GROWTH;
import static io.holdfast.bench.Scenario.HELD;
import static io.holdfast.bench.Scenario.PROCESSES;
import static io.holdfast.bench.Scenario.SECTION;
import static io.holdfast.bench.Scenario.SPREAD;

import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.ContenderSpec.Kind;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.compare.arena.Arena;
import io.holdfast.bench.compare.spot.Spot;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The runs on a store, the most telling first. */
enum Stage {
    COMMON(Who.MAIN, FREE, SPREAD, PROCESSES),
    SECTIONS(Who.MAIN, SECTION),
    LINES(Who.OURS, GROWTH),
    CROWDS("ij"),
    STARTS("kl"),
    IN_ONE_JVM(Who.MAIN, CROWD),
    OTHERS(Who.OTHERS, FREE, SPREAD, CROWD, PROCESSES, SECTION),
    LINES_OF_PEERS(Who.PEERS, GROWTH),
    LEASES(Who.OURS, HELD);

    private enum Who {
        MAIN,
        OURS,
        PEERS,
        OTHERS,
        NOBODY
    }

    private final Who who;
    private final Set<Scenario> scenarios;
    private final String spots;

    Stage(Who who, Scenario... scenarios) {
        this.who = who;
        this.scenarios = Set.of(scenarios);
        this.spots = "";
    }

    /** Of no loads, but {@link Spot}s with these letters. */
    Stage(String spots) {
        this.who = Who.NOBODY;
        this.scenarios = Set.of();
        this.spots = spots;
    }

    Set<Scenario> scenarios() {
        return scenarios;
    }

    String spots() {
        return spots;
    }

    List<ContenderSpec> contenders(Arena arena) {
        Predicate<ContenderSpec> ours = spec -> spec.kind() == Kind.OURS;
        return switch (who) {
            case MAIN -> arena.main();
            case OTHERS -> arena.others();
            case OURS -> arena.main().stream().filter(ours).toList();
            case PEERS -> arena.contenders().filter(ours.negate()).toList();
            case NOBODY -> List.of();
        };
    }

    boolean isOfGoals() {
        return compareTo(CROWDS) <= 0;
    }

    /** Whether it takes so long that one round must do. */
    boolean isOnce() {
        return scenarios.contains(GROWTH) || scenarios.contains(HELD) || !spots.isEmpty();
    }

    /** As people choose them on the command line: {@code (abd)}. */
    @Override
    public String toString() {
        return "("
                + scenarios.stream()
                        .map(Scenario::letter)
                        .sorted()
                        .map(String::valueOf)
                        .collect(Collectors.joining()) + spots
                + (who == Who.OTHERS || who == Who.PEERS ? " of others)" : ")");
    }
}
