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
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** The runs on a store, the most telling first. */
enum Stage {
    /** What most goals are about. */
    COMMON(Who.MAIN, FREE, SPREAD, PROCESSES),
    SECTIONS(Who.MAIN, SECTION),
    LINES(Who.OURS, GROWTH),
    /** No loads, but {@link Spot}s. */
    SPOTS(Who.MAIN),
    IN_ONE_JVM(Who.MAIN, CROWD),
    OTHERS(Who.OTHERS, FREE, SPREAD, CROWD, PROCESSES, SECTION),
    LINES_OF_PEERS(Who.PEERS, GROWTH),
    LEASES(Who.OURS, HELD);

    private enum Who {
        MAIN,
        OURS,
        PEERS,
        OTHERS
    }

    private final Who who;
    private final Set<Scenario> scenarios;

    Stage(Who who, Scenario... scenarios) {
        this.who = who;
        this.scenarios = Set.of(scenarios);
    }

    Set<Scenario> scenarios() {
        return scenarios;
    }

    List<ContenderSpec> contenders(Arena arena) {
        Predicate<ContenderSpec> ours = spec -> spec.kind() == Kind.OURS;
        return switch (who) {
            case MAIN -> arena.main();
            case OTHERS -> arena.others();
            case OURS -> arena.main().stream().filter(ours).toList();
            case PEERS -> arena.contenders().filter(ours.negate()).toList();
        };
    }

    /** Whether it takes so long that one round must do. */
    boolean isOnce() {
        return scenarios.contains(GROWTH) || scenarios.contains(HELD);
    }
}
