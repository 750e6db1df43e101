package io.holdfast.bench.compare;

import static io.holdfast.bench.compare.Compare.say;

import io.holdfast.bench.BenchException;
import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.Load;
import io.holdfast.bench.Measurement;
import io.holdfast.bench.Pace;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.worker.Team;
import io.holdfast.bench.compare.arena.Arena;
import io.holdfast.bench.compare.kept.Kept;
import io.holdfast.bench.compare.kept.Part;
import io.holdfast.bench.compare.page.PerformancePage;
import io.holdfast.bench.compare.spot.Spot;
import io.holdfast.bench.compare.spot.SpotProbe;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/*
 * Runs all contenders of one store against each other.
 *
 * They are there together, each with JVMs of its own, all of a stage warmed up before the first is measured. Then come the
 * rounds: in each, every contender runs every scenario, and the next round begins with another one, so that a slow minute of
 * the machine hits different contenders. The stages come in order of importance: with limited time, a round that would not be
 * over in time is left out. Results are kept after every round. Not thread-safe.
 */
final class StoreRun implements AutoCloseable {

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
        for (Step step : steps()) {
            measure(step);
        }
    }

    /** One round of a stage. */
    private record Step(Stage stage, int round) {
        @Override
        public String toString() {
            return stage + ", round " + round;
        }
    }

    /** The first round of all that goals are about comes before the second, and the rest after them. */
    private List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (boolean ofGoals : new boolean[] {true, false}) {
            for (int round = 1; round <= options.rounds(); round++) {
                for (Stage stage : Stage.values()) {
                    if (stage.isOfGoals() == ofGoals && (round == 1 || !stage.isOnce())) {
                        steps.add(new Step(stage, round));
                    }
                }
            }
        }
        return steps;
    }

    /** What there is time for, as far as it can be told before. */
    String plan() {
        Map<Stage, Integer> rounds = new EnumMap<>(Stage.class);
        Set<Stage> leftOut = EnumSet.noneOf(Stage.class);
        Set<String> warm = new HashSet<>();
        Duration all = Duration.ZERO;
        for (Step step : steps()) {
            Duration time = expected(step.stage, warm);
            if (time.isZero() || step.round > 1 && leftOut.contains(step.stage)) {
                continue;
            }
            if (deadlineNanos.isPresent() && all.plus(time).compareTo(left(deadlineNanos.get())) > 0) {
                leftOut.add(step.stage);
            } else {
                all = all.plus(time);
                rounds.merge(step.stage, 1, Integer::sum);
                warm.addAll(names(step.stage));
            }
        }
        leftOut.removeAll(rounds.keySet());
        return arena.store() + ": about " + all.toSeconds() + " s"
                + deadlineNanos
                        .map(deadline -> " of " + left(deadline).toSeconds())
                        .orElse("")
                + ", rounds " + rounds + (leftOut.isEmpty() ? "" : ", no time for " + leftOut) + "; load before: "
                + part.fact(Part.LOAD);
    }

    private void measure(Step step) throws IOException {
        if (!step.stage.spots().isEmpty()) {
            measureSpots(step.stage);
            return;
        }
        List<ContenderSpec> wanted = wanted(step.stage);
        if (wanted.isEmpty() || !fits(step.toString(), expected(step.stage, teams.keySet()))) {
            return;
        }
        List<Team> turns = new ArrayList<>();
        for (ContenderSpec spec : wanted) {
            turns.add(teams.computeIfAbsent(spec.name(), unused -> new Team(spec, arena.probe())));
        }
        turns.stream().filter(Team::isFresh).forEach(this::warm);
        Collections.rotate(turns, step.round);
        for (Team team : turns) {
            say(arena.store() + ", " + step + ": " + team.spec().name());
            team.resume();
            arena.beforeTurn().run();
            turn(step.stage, team);
            rest(team);
        }
        kept.put(part, runs, spots);
    }

    private List<ContenderSpec> wanted(Stage stage) {
        return stage.contenders(arena).stream()
                .filter(spec -> !scenarios(stage, spec).isEmpty())
                .toList();
    }

    private List<String> names(Stage stage) {
        return wanted(stage).stream().map(ContenderSpec::name).toList();
    }

    private List<SpotProbe> probes(Stage stage) {
        return SpotProbe.of(arena).stream()
                .filter(probe -> stage.spots().indexOf(probe.letter()) >= 0)
                .filter(probe -> options.isSpot(probe.letter()))
                .filter(probe -> !options.onlyMissing() || !kept.hasSpots(arena.store(), probe.letter(), Part.commit()))
                .toList();
    }

    private void measureSpots(Stage stage) throws IOException {
        for (SpotProbe probe : probes(stage)) {
            if (!fits(probe.name(), probe.expected())) {
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

    /** Of one round, and of warming up those that are not yet. */
    private Duration expected(Stage stage, Set<String> warm) {
        Duration sum = probes(stage).stream().map(SpotProbe::expected).reduce(Duration.ZERO, Duration::plus);
        for (ContenderSpec spec : wanted(stage)) {
            if (!warm.contains(spec.name())) {
                sum = sum.plus(spec.heavy() ? options.warmUp().plus(AROUND_A_WARM_UP) : LIGHT_WARM_UP.multipliedBy(2));
            }
            for (Scenario scenario : scenarios(stage, spec)) {
                for (Load load : loads(spec, scenario)) {
                    sum = sum.plus(expected(stage, load));
                }
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
        if (team.spec().settings().containsKey(Arena.RESTLESS)) {
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
        int most = Integer.parseInt(spec.settings().getOrDefault(Arena.MOST_WAITERS, "1000"));
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
