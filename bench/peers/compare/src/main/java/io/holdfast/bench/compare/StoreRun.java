package io.holdfast.bench.compare;

import static io.holdfast.bench.compare.Compare.say;

import io.holdfast.bench.BenchException;
import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.Load;
import io.holdfast.bench.Measurement;
import io.holdfast.bench.Pace;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.Team;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/*
 * Runs all contenders of one store against each other.
 *
 * They are there together, each with JVMs of its own, all of a stage warmed up before the first is measured. Then come the
 * rounds: in each, every contender runs every scenario, and the next round begins with another one, so that a slow minute of
 * the machine hits different contenders. With limited time the stages come in order of importance, and a stage or a further
 * round that would not be over in time is left out. Results are kept after every round. Not thread-safe.
 */
final class StoreRun implements AutoCloseable {

    /** A setting of contenders whose JVMs are stopped while others run. */
    static final String RESTLESS = "bench.restless";
    /** A setting: no runs with more waiters. */
    static final String MOST_WAITERS = "bench.waiters";

    private static final Duration LIGHT_WARM_UP = Duration.ofSeconds(5);
    /** So many times as long as asked for, while the rate still rises. */
    private static final int LONGEST_WARM_UP = 4;
    /** Measured on two cores: the start of the JVMs, and how long the rate usually rises. */
    private static final Duration AROUND_A_WARM_UP = Duration.ofSeconds(13);

    private static final Duration AROUND_A_RUN = Duration.ofMillis(2300);
    private static final Duration AROUND_A_LONG_LINE = Duration.ofSeconds(12);
    private static final Duration SETTLED = Duration.ofMillis(700);

    private final Arena arena;
    private final CompareOptions options;
    private final Kept kept;
    private final Part part;
    private final Optional<Long> deadlineNanos;
    private final Map<String, Team> teams = new LinkedHashMap<>();
    private final List<Measurement> runs = new ArrayList<>();
    private final List<Spot> spots = new ArrayList<>();

    StoreRun(Arena arena, CompareOptions options, Kept kept, Map<String, String> versions, Optional<Duration> time) {
        this.arena = arena;
        this.options = options;
        this.kept = kept;
        this.deadlineNanos = time.map(given -> System.nanoTime() + given.toNanos());
        this.part = Part.now(
                arena.store(),
                String.format(
                        Locale.ROOT,
                        "%.1f s a run, at most %d rounds, %d s warm-up or more",
                        options.seconds(),
                        options.rounds(),
                        options.warmUp().toSeconds()),
                versions);
    }

    void measure() throws IOException {
        Duration expected = Duration.ZERO;
        for (Stage stage : Stage.values()) {
            expected = expected.plus(expected(
                    stage, stage.isOnce() ? 1 : options.rounds(), stage == Stage.COMMON || stage == Stage.OTHERS));
        }
        say(arena.store() + ": everything takes about " + Math.round(expected.toSeconds() / 60.0) + " min"
                + deadlineNanos
                        .map(deadline -> ", there are " + left(deadline).toSeconds() + " s")
                        .orElse("")
                + "; load before: " + part.fact(Part.LOAD));
        for (Stage stage : Stage.values()) {
            if (stage == Stage.SPOTS) {
                measureSpots();
            } else {
                measure(stage);
            }
        }
    }

    private void measure(Stage stage) throws IOException {
        List<ContenderSpec> wanted = stage.contenders(arena).stream()
                .filter(spec -> !scenarios(stage, spec).isEmpty())
                .toList();
        if (wanted.isEmpty() || !fits(stage.name(), expected(stage, 1, true))) {
            return;
        }
        List<Team> turns = new ArrayList<>();
        for (ContenderSpec spec : wanted) {
            turns.add(teams.computeIfAbsent(spec.name(), unused -> new Team(spec, arena.probe())));
        }
        turns.stream().filter(Team::isFresh).forEach(this::warm);
        int rounds = stage.isOnce() ? 1 : options.rounds();
        for (int round = 0; round < rounds; round++) {
            if (round > 0 && !fits(stage + ", round " + (round + 1), expected(stage, 1, false))) {
                break;
            }
            for (Team team : turns) {
                say(arena.store() + ", " + stage + ", round " + (round + 1) + ": "
                        + team.spec().name());
                team.resume();
                arena.beforeTurn().run();
                turn(stage, team);
                rest(team);
            }
            Collections.rotate(turns, 1);
            kept.put(part, runs, spots);
        }
    }

    private void measureSpots() throws IOException {
        for (SpotProbe probe : SpotProbe.of(arena)) {
            boolean known = options.onlyMissing() && kept.hasSpots(arena.store(), probe.letter(), Part.commit());
            if (!options.isSpot(probe.letter()) || known || !fits(probe.name(), probe.expected())) {
                continue;
            }
            say(arena.store() + ", " + probe.name());
            arena.beforeTurn().run();
            try {
                List<Spot> found = probe.measure();
                found.forEach(spot -> say(String.format(
                        Locale.ROOT, "  %s %s %,d: %.1f", spot.contender(), spot.kind(), spot.size(), spot.value())));
                spots.addAll(found);
                kept.put(part, runs, spots);
            } catch (InterruptedException e) {
                throw new BenchException("interrupted");
            } catch (Exception e) {
                say("  has no result: " + e);
            }
        }
    }

    /** Of one stage: so many rounds, and the warm-ups of those that were not there before. */
    private Duration expected(Stage stage, int rounds, boolean warmingUp) {
        Duration sum = stage == Stage.SPOTS
                ? SpotProbe.of(arena).stream()
                        .filter(probe -> options.isSpot(probe.letter()))
                        .map(SpotProbe::expected)
                        .reduce(Duration.ZERO, Duration::plus)
                : Duration.ZERO;
        for (ContenderSpec spec : stage.contenders(arena)) {
            List<Load> loads = scenarios(stage, spec).stream()
                    .flatMap(scenario -> loads(spec, scenario).stream())
                    .toList();
            if (!loads.isEmpty() && warmingUp && !teams.containsKey(spec.name())) {
                sum = sum.plus(spec.heavy() ? options.warmUp().plus(AROUND_A_WARM_UP) : LIGHT_WARM_UP.multipliedBy(2));
            }
            for (Load load : loads) {
                sum = sum.plus(expected(stage, load).multipliedBy(rounds));
            }
        }
        return sum;
    }

    private Duration expected(Stage stage, Load load) {
        if (stage.scenarios().contains(Scenario.HELD)) {
            return load.section().plusSeconds(20);
        }
        return Duration.ofMillis(Math.round(options.seconds() * 1000))
                .plus(load.threads() > 100 ? AROUND_A_LONG_LINE : AROUND_A_RUN);
    }

    private boolean fits(String what, Duration time) {
        boolean fits = deadlineNanos.isEmpty() || left(deadlineNanos.get()).compareTo(time) >= 0;
        if (!fits) {
            say(arena.store() + ", " + what + " is left out: it takes about " + time.toSeconds() + " s, and there are "
                    + left(deadlineNanos.get()).toSeconds());
        }
        return fits;
    }

    private static Duration left(long deadline) {
        return Duration.ofNanos(deadline - System.nanoTime());
    }

    private void warm(Team team) {
        ContenderSpec spec = team.spec();
        Duration time = spec.heavy() ? options.warmUp() : LIGHT_WARM_UP;
        say("warming up " + spec.store() + ": " + spec.name() + " (" + time.toSeconds() + " s or more)");
        boolean contended = spec.scenarios().stream().anyMatch(Scenario::isContended);
        boolean free = spec.scenarios().contains(Scenario.FREE);
        int jvms = contended && arena.address().isPresent() ? 4 : 1;
        try {
            // Every JVM by itself first: on one lock it would take minutes until all have run often enough to be
            // compiled.
            if (free) {
                team.warmUntilSteady(
                        new Load(jvms, 4 * jvms, 4 * jvms, Duration.ZERO),
                        contended ? time.dividedBy(2) : time,
                        time.multipliedBy(LONGEST_WARM_UP));
            }
            if (contended) {
                team.warmUntilSteady(Load.of(jvms, 16), time.dividedBy(2), time.multipliedBy(LONGEST_WARM_UP));
            }
        } catch (BenchException e) {
            say("  " + spec.name() + " fails to warm up: " + e.getMessage());
        }
        rest(team);
    }

    private static void rest(Team team) {
        if (team.spec().settings().containsKey(RESTLESS)) {
            team.pause();
        }
    }

    private void turn(Stage stage, Team team) {
        for (Scenario scenario : scenarios(stage, team.spec())) {
            for (Load load : loads(team.spec(), scenario)) {
                runs.add(run(team, scenario, load));
            }
        }
    }

    private List<Scenario> scenarios(Stage stage, ContenderSpec spec) {
        return options.isContender(spec.name())
                ? stage.scenarios().stream()
                        .filter(spec.scenarios()::contains)
                        .filter(options.scenarios()::contains)
                        .filter(scenario -> !isKnown(spec, scenario))
                        .sorted()
                        .toList()
                : List.of();
    }

    private boolean isKnown(ContenderSpec spec, Scenario scenario) {
        return options.onlyMissing()
                && loads(spec, scenario).stream()
                        .map(load ->
                                Measurement.refused(spec, scenario, load, "").key())
                        .allMatch(key -> kept.has(key, Part.commit())
                                && runs.stream().noneMatch(run -> run.key().equals(key)));
    }

    private List<Load> loads(ContenderSpec spec, Scenario scenario) {
        int most = Integer.parseInt(spec.settings().getOrDefault(MOST_WAITERS, "1000"));
        return scenario.loads(arena.address().isPresent() ? 4 : 1).stream()
                .filter(load -> load.threads() <= most)
                .toList();
    }

    private Measurement run(Team team, Scenario scenario, Load load) {
        if (team.isFresh()) {
            warm(team);
            team.resume();
        }
        Pace pace = Pace.ofSeconds(options.seconds())
                .warmingUp(SETTLED, Duration.ofMillis(load.threads() > 100 ? 8000 : 3000));
        try {
            Measurement measurement = team.measure(scenario, load, pace);
            say("  " + scenario.letter() + " " + scenario.title() + " " + load.threads() + ": "
                    + PerformancePage.brief(measurement));
            return measurement;
        } catch (BenchException e) {
            say("  " + scenario.letter() + " has no result: " + e.getMessage());
            return Measurement.refused(team.spec(), scenario, load, e.getMessage());
        }
    }

    @Override
    public void close() {
        teams.values().forEach(Team::close);
    }
}
