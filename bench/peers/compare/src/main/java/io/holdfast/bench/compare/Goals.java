package io.holdfast.bench.compare;

import io.holdfast.bench.Figure;
import io.holdfast.bench.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** The speed to reach, and whether it is. */
final class Goals {

    private static final List<String> SERVERS = List.of("Redis", "etcd", "ZooKeeper", "MariaDB", "PostgreSQL");
    private static final List<String> QUEUES = List.of("Redis", "etcd", "ZooKeeper");
    private static final List<String> SQL = List.of("MariaDB", "PostgreSQL");
    private static final double ANYBODY_IDEAL = 200;
    /** Of the default ttl of the bench: a third of 30 s. */
    private static final double PERIOD_SECONDS = 10;

    private final Results results;
    private final List<Goal> goals = new ArrayList<>();

    private Goals(Results results) {
        this.results = results;
    }

    /** What was to be reached, and what was. */
    record Goal(String scenario, String what, boolean atLeast, double bound, OptionalDouble reached) {

        boolean isMet() {
            return reached.isPresent() && (atLeast ? reached.getAsDouble() >= bound : reached.getAsDouble() <= bound);
        }
    }

    static List<Goal> of(Results results, Micro micro) {
        Goals goals = new Goals(results);
        goals.free();
        goals.spread();
        goals.defaults();
        goals.strict();
        goals.sql();
        goals.section();
        goals.growth();
        goals.held();
        goals.gate(micro);
        return goals.goals;
    }

    private void free() {
        for (String store : SERVERS) {
            OptionalDouble ours = results.figure(store, Arenas.DEFAULTS, Scenario.FREE, Figure.CYCLE_P50);
            OptionalDouble floor = results.figure(store, Arenas.FLOOR, Scenario.FREE, Figure.CYCLE_P50);
            atMost("a", store + ": cycle p50 ÷ floor", 1.25, ratio(ours, floor));
            atLeast(
                    "a",
                    store + ": quickest peer with a lease ÷ ours",
                    1,
                    ratio(results.quickestPeerCycle(store), ours));
        }
    }

    private void spread() {
        OptionalDouble ours = results.rate("Redis", Arenas.DEFAULTS, Scenario.SPREAD);
        atLeast("b", "Redis: rate ÷ floor", 0.8, ratio(ours, results.floorRate("Redis", Scenario.SPREAD)));
        atLeast(
                "b",
                "Redis: rate ÷ Redisson",
                8,
                ratio(ours, results.rate("Redis", "Redisson RLock", Scenario.SPREAD)));
    }

    private void defaults() {
        ratioToPeer("c", "Redis", Arenas.DEFAULTS, "Redisson RLock", Scenario.CROWD, 100);
        ratioToPeer("c", "ZooKeeper", Arenas.DEFAULTS, "Curator", Scenario.CROWD, 50);
        ratioToPeer("c", "etcd", Arenas.DEFAULTS, "jetcd", Scenario.CROWD, 300);
        ratioToPeer("d", "Redis", Arenas.DEFAULTS, "Redisson RLock", Scenario.PROCESSES, 20);
        atLeast(
                "d",
                "Redis: smallest share of a JVM",
                0.5,
                results.figure("Redis", Arenas.DEFAULTS, Scenario.PROCESSES, Figure.LEAST_JVM_SHARE));
    }

    private void strict() {
        for (Scenario scenario : List.of(Scenario.CROWD, Scenario.PROCESSES)) {
            String letter = String.valueOf(scenario.letter());
            atLeast(
                    letter,
                    "Redis, strict order: rate ÷ BLPOP",
                    0.65,
                    ratio(results.rate("Redis", Arenas.FIFO, scenario), results.floorRate("Redis", scenario)));
            atMost(
                    letter,
                    "Redis, strict order: max/min of threads",
                    1.05,
                    results.run("Redis", Arenas.FIFO, scenario)
                            .map(Summary::unfairness)
                            .orElse(OptionalDouble.empty()));
        }
        ratioToPeer("d", "ZooKeeper", Arenas.FIFO, "Curator", Scenario.PROCESSES, 1.3);
        ratioToPeer("d", "etcd", Arenas.FIFO, "jetcd", Scenario.PROCESSES, 3);
    }

    private void sql() {
        for (String store : SQL) {
            atLeast(
                    "d",
                    store + ", no local handoff: rate ÷ two serial UPDATEs",
                    0.8,
                    ratio(
                            results.rate(store, Arenas.UNSHARED, Scenario.PROCESSES),
                            results.floorRate(store, Scenario.PROCESSES)));
            ratioToPeer("d", store, Arenas.UNSHARED, "ShedLock", Scenario.PROCESSES, 1);
            ratioToPeer("d", store, Arenas.UNSHARED, "Spring JDBC", Scenario.PROCESSES, 1);
            ratioToPeer("d", store, Arenas.DEFAULTS, "ShedLock", Scenario.PROCESSES, 10);
            ratioToPeer("d", store, Arenas.DEFAULTS, "Spring JDBC", Scenario.PROCESSES, 10);
        }
    }

    private void section() {
        for (String store : QUEUES) {
            for (String ours : List.of(Arenas.DEFAULTS, Arenas.FIFO)) {
                atLeast(
                        "e",
                        store + ", " + ours + ": rate ÷ floor",
                        0.97,
                        ratio(results.rate(store, ours, Scenario.SECTION), results.floorRate(store, Scenario.SECTION)));
            }
        }
        for (String store : SQL) {
            atLeast(
                    "e",
                    store + ": rate ÷ 200",
                    0.9,
                    ratio(results.rate(store, Arenas.DEFAULTS, Scenario.SECTION), OptionalDouble.of(ANYBODY_IDEAL)));
            atLeast(
                    "e",
                    store + ": acquisitions of the unluckiest thread",
                    1,
                    results.figure(store, Arenas.DEFAULTS, Scenario.SECTION, Figure.LEAST_PER_THREAD));
        }
    }

    private void growth() {
        for (String store : QUEUES) {
            for (String ours : List.of(Arenas.DEFAULTS, Arenas.FIFO)) {
                atLeast(
                        "f",
                        store + ", " + ours + ": rate at 1,000 waiters ÷ at 10",
                        0.9,
                        ratio(rateAt(store, ours, 1000), rateAt(store, ours, 10)));
            }
        }
    }

    private OptionalDouble rateAt(String store, String contender, int waiters) {
        return results.growth(store, contender, waiters)
                .map(run -> run.median(Figure.RATE))
                .orElse(OptionalDouble.empty());
    }

    private void held() {
        for (String store : SERVERS) {
            atMost(
                    "g",
                    store + ": threads added for 10,000 leases",
                    20,
                    results.figure(store, Arenas.DEFAULTS, Scenario.HELD, Figure.ADDED_THREADS));
            atMost(
                    "g",
                    store + ": share of a core",
                    0.03,
                    results.figure(store, Arenas.DEFAULTS, Scenario.HELD, Figure.CLIENT_CORE_SHARE));
        }
        OptionalDouble perSecond = results.figure("Redis", Arenas.DEFAULTS, Scenario.HELD, Figure.COMMANDS_PER_SECOND);
        atMost(
                "g",
                "Redis: commands per 100 leases and period",
                1,
                perSecond.isPresent()
                        ? OptionalDouble.of(perSecond.getAsDouble() * PERIOD_SECONDS / 100)
                        : OptionalDouble.empty());
    }

    private void gate(Micro micro) {
        OptionalDouble gate = micro.nanos("GateBenchmark.gateFree");
        OptionalDouble lease = micro.nanos("LeaseBenchmark.leaseFree");
        atMost("micro", "gate ÷ ReentrantLock, free", 3, ratio(gate, micro.nanos("GateBenchmark.reentrantLockFree")));
        atMost(
                "micro",
                "`memory:` lease cycle above the gate, ns",
                300,
                gate.isPresent() && lease.isPresent()
                        ? OptionalDouble.of(lease.getAsDouble() - gate.getAsDouble())
                        : OptionalDouble.empty());
        atLeast(
                "micro",
                "fair ReentrantLock ÷ gate, contended",
                0.8,
                ratio(
                        micro.nanos("GateBenchmark.fairReentrantLockContended"),
                        micro.nanos("GateBenchmark.gateContended")));
    }

    private void ratioToPeer(String letter, String store, String ours, String peer, Scenario scenario, double bound) {
        atLeast(
                letter,
                store + ", " + ours + ": rate ÷ " + peer,
                bound,
                ratio(results.rate(store, ours, scenario), results.bestPeerRate(store, peer, scenario)));
    }

    private void atLeast(String letter, String what, double bound, OptionalDouble reached) {
        goals.add(new Goal(letter, what, true, bound, reached));
    }

    private void atMost(String letter, String what, double bound, OptionalDouble reached) {
        goals.add(new Goal(letter, what, false, bound, reached));
    }

    private static OptionalDouble ratio(OptionalDouble ours, OptionalDouble theirs) {
        return ours.isPresent() && theirs.isPresent() && theirs.getAsDouble() > 0
                ? OptionalDouble.of(ours.getAsDouble() / theirs.getAsDouble())
                : OptionalDouble.empty();
    }
}
