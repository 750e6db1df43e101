package io.holdfast.bench.compare;

import io.holdfast.bench.BenchException;
import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.Load;
import io.holdfast.bench.Machine;
import io.holdfast.bench.Measurement;
import io.holdfast.bench.Pace;
import io.holdfast.bench.Report;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.Team;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import picocli.CommandLine;

/*
 * Runs all contenders of each store against each other.
 *
 * A store's contenders are there together, each with JVMs of its own, all warmed up before the first is measured. Then come
 * the rounds: in each, every contender runs every scenario, and the next round begins with another one, so that a slow minute
 * of the machine hits different contenders. Long runs (growth, leases held) are in the first round only. Results are kept
 * after every store, and those of an earlier run that were not repeated stay.
 */
public final class Compare {

    /** A setting of contenders whose JVMs are stopped while others run. */
    static final String RESTLESS = "bench.restless";
    /** A setting: no runs with more waiters. */
    static final String MOST_WAITERS = "bench.waiters";

    private static final Path PEERS = Path.of("bench/peers");
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");
    private static final Duration LIGHT_WARM_UP = Duration.ofSeconds(6);
    /** So many times as long as asked for, while the rate still rises. */
    private static final int LONGEST_WARM_UP = 4;

    private final CompareOptions options;
    private final Map<String, String> facts;

    private Compare(CompareOptions options, ClassPaths classPaths) {
        this.options = options;
        this.facts = new LinkedHashMap<>(Machine.facts());
        this.facts.putAll(ServerVersions.installed());
        this.facts.putAll(classPaths.versions());
    }

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new CompareOptions()).execute(arguments));
    }

    static void compare(CompareOptions options) throws Exception {
        ClassPaths classPaths = new ClassPaths(PEERS);
        Compare compare = new Compare(options, classPaths);
        if (!options.renderOnly()) {
            compare.measure(new Arenas(classPaths).all());
        }
        PerformancePage.write(compare.read(), options.docs());
    }

    private void measure(Map<String, Supplier<Arena>> arenas) throws Exception {
        for (Map.Entry<String, Supplier<Arena>> entry : arenas.entrySet()) {
            if (options.isWanted(entry.getKey())) {
                try (Arena arena = entry.getValue().get()) {
                    keep(measure(arena));
                }
            }
        }
    }

    private List<Measurement> measure(Arena arena) {
        List<Measurement> measurements = new ArrayList<>();
        List<Team> teams = arena.contenders().stream()
                .filter(spec -> !wanted(spec).isEmpty())
                .filter(spec -> options.isContender(spec.name()))
                .map(spec -> new Team(spec, arena.probe()))
                .collect(Collectors.toCollection(ArrayList::new));
        try {
            teams.forEach(this::warm);
            for (int round = 0; round < options.rounds(); round++) {
                for (Team team : teams) {
                    say(arena.store() + ", round " + (round + 1) + ": "
                            + team.spec().name());
                    team.resume();
                    arena.beforeTurn().run();
                    measurements.addAll(turn(team, round));
                    rest(team);
                }
                Collections.rotate(teams, 1);
            }
        } finally {
            teams.forEach(Team::close);
        }
        return measurements;
    }

    private void warm(Team team) {
        ContenderSpec spec = team.spec();
        Duration time = spec.heavy() ? options.warmUp() : LIGHT_WARM_UP;
        say("warming up " + spec.store() + ": " + spec.name() + " (" + time.toSeconds() + " s)");
        boolean contended = wanted(spec).stream().anyMatch(Scenario::isContended);
        boolean free = spec.scenarios().contains(Scenario.FREE);
        int jvms = contended && !spec.store().equals("memory") ? 4 : 1;
        try {
            // Every JVM by itself first: on one lock it would take minutes until all have run often enough to be
            // compiled.
            if (free) {
                team.warm(
                        new Load(jvms, 4 * jvms, 4 * jvms, Duration.ZERO),
                        contended ? time.multipliedBy(2).dividedBy(5) : time);
            }
            if (contended) {
                team.warm(Load.of(1, 16), time.dividedBy(5));
                Duration together = time.multipliedBy(free ? 2 : 4).dividedBy(5);
                team.warmUntilSteady(Load.of(jvms, 16), together, time.multipliedBy(LONGEST_WARM_UP));
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

    private List<Measurement> turn(Team team, int round) {
        List<Measurement> measurements = new ArrayList<>();
        for (Scenario scenario : Scenario.values()) {
            boolean once = scenario == Scenario.GROWTH || scenario == Scenario.HELD;
            if (!wanted(team.spec()).contains(scenario) || once && round > 0) {
                continue;
            }
            for (Load load : scenario.loads(team.spec().store().equals("memory") ? 1 : 4)) {
                int most = Integer.parseInt(team.spec().settings().getOrDefault(MOST_WAITERS, "1000"));
                if (load.threads() <= most) {
                    measurements.add(run(team, scenario, load));
                }
            }
        }
        return measurements;
    }

    private Measurement run(Team team, Scenario scenario, Load load) {
        if (team.isFresh()) {
            warm(team);
            team.resume();
        }
        Pace pace = Pace.ofSeconds(options.seconds())
                .warmingUp(Duration.ofMillis(700), Duration.ofMillis(load.threads() > 100 ? 8000 : 3000));
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

    private Set<Scenario> wanted(ContenderSpec spec) {
        return spec.scenarios().stream().filter(options.scenarios()::contains).collect(Collectors.toSet());
    }

    private Report read() throws IOException {
        return Files.exists(options.json())
                ? Report.fromJson(Files.readString(options.json()))
                : new Report(facts, List.of());
    }

    /** What was measured again replaces what was there. */
    private void keep(List<Measurement> fresh) throws IOException {
        Set<String> repeated = fresh.stream().map(Measurement::key).collect(Collectors.toSet());
        List<Measurement> all = new ArrayList<>(read().measurements());
        all.removeIf(old -> repeated.contains(old.key()));
        all.addAll(fresh);
        Path parent = options.json().toAbsolutePath().getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        Files.writeString(options.json(), new Report(facts, all).toJson());
        say("kept " + fresh.size() + " runs in " + options.json());
    }

    private static void say(String text) {
        System.out.println(LocalTime.now().format(CLOCK) + " " + text);
    }
}
