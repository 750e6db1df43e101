package io.holdfast.bench;

import io.holdfast.bench.HoldfastContender.Mode;
import io.holdfast.bench.server.ServerProbe;
import io.holdfast.bench.server.ServerProbes;
import io.holdfast.bench.server.StoreAddress;
import io.holdfast.bench.worker.Team;
import io.holdfast.proxy.TcpProxy;
import java.io.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** The classic experiment on some stores: the ways to wait, side by side. Not thread-safe. */
public final class StoreBench {

    /** More waiters than that teach no more about a store on one machine than it costs to wait for them. */
    private static final int MOST_WAITERS = 1000;

    private static final Duration NETWORK_DELAY = Duration.ofMillis(1);

    /** Measured on two cores, on which JVMs start side by side. */
    private static final Duration START_OF_A_JVM = Duration.ofMillis(600);

    private static final Duration AROUND_A_RUN = Duration.ofMillis(400);

    private final List<StoreAddress> stores;
    private final List<Mode> modes;
    private final Set<Scenario> scenarios;
    private final Pace pace;

    public StoreBench(List<StoreAddress> stores, List<Mode> modes, Set<Scenario> scenarios, Pace pace) {
        this.stores = List.copyOf(stores);
        this.modes = List.copyOf(modes);
        this.scenarios = Set.copyOf(scenarios);
        this.pace = pace;
    }

    /** How far a bench is. */
    public record Progress(int done, int all, String doing) {}

    private record Step(StoreAddress store, Mode mode, Scenario scenario, Load load) {}

    /** About how long {@link #run} takes: loads that settle at once and those that never do are about as many. */
    public Duration expected() {
        Duration runs = steps().stream()
                .map(step -> step.scenario == Scenario.HELD
                        ? step.load.section().plusSeconds(5)
                        : pace.measured()
                                .plus(pace.settle())
                                .plus(pace.patience().minus(pace.settle()).dividedBy(2))
                                .plus(AROUND_A_RUN))
                .reduce(Duration.ZERO, Duration::plus);
        return runs.plus(START_OF_A_JVM.multipliedBy(starts()));
    }

    /** How many JVMs are started: those of a way to wait are kept from run to run, but for the network's. */
    private int starts() {
        Map<String, Integer> most = new HashMap<>();
        int apart = 0;
        for (Step step : steps()) {
            if (step.scenario == Scenario.NETWORK) {
                apart += step.load.jvms();
            } else {
                most.merge(step.store + " " + step.mode, step.load.jvms(), Math::max);
            }
        }
        return apart + most.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Runs everything. A run that fails is in the report with its reason, and the rest goes on. */
    public Report run(Consumer<Progress> progress) {
        Map<String, String> machine = Machine.facts();
        Machine.busy().ifPresent(how -> machine.put(Report.BUSY, how));
        List<Step> steps = steps();
        List<Measurement> measurements = new ArrayList<>();
        for (StoreAddress store : stores) {
            ServerProbe probe = ServerProbes.of(store);
            for (Mode mode : modes) {
                List<Step> own = steps.stream()
                        .filter(step -> step.store == store && step.mode == mode)
                        .toList();
                try (Team near = new Team(spec(store, mode, store.uri()), probe)) {
                    for (Step step : own) {
                        if (Thread.currentThread().isInterrupted()) {
                            throw new BenchException("interrupted");
                        }
                        progress.accept(new Progress(
                                measurements.size(),
                                steps.size(),
                                store + ", " + mode.title + ": " + step.scenario.title()));
                        measurements.add(step.scenario == Scenario.NETWORK ? far(step, probe) : measure(near, step));
                    }
                }
            }
        }
        progress.accept(new Progress(steps.size(), steps.size(), "done"));
        return new Report(machine, measurements);
    }

    private List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (StoreAddress store : stores) {
            for (Mode mode : modes) {
                for (Scenario scenario : Scenario.values()) {
                    if (isRun(store, mode, scenario)) {
                        scenario.loads(store.mostJvms()).stream()
                                .filter(load -> load.threads() < MOST_WAITERS
                                        || pace.measured().toSeconds() >= 5)
                                .forEach(load -> steps.add(new Step(store, mode, scenario, load)));
                    }
                }
            }
        }
        return steps;
    }

    private boolean isRun(StoreAddress store, Mode mode, Scenario scenario) {
        // Nobody waits: the way of waiting makes no difference.
        boolean same = !scenario.isContended() && mode != modes.get(0);
        boolean noNetwork = scenario == Scenario.NETWORK && store.server().isEmpty();
        return scenarios.contains(scenario) && !same && !noNetwork;
    }

    private Measurement measure(Team team, Step step) {
        try {
            return team.measure(step.scenario, step.load, pace);
        } catch (BenchException e) {
            return Measurement.refused(team.spec(), step.scenario, step.load, e.getMessage());
        }
    }

    /** With a proxy between clients and server that keeps everything for a while. */
    private Measurement far(Step step, ServerProbe probe) {
        try (TcpProxy proxy = TcpProxy.to(step.store.server().orElseThrow())) {
            proxy.delay(NETWORK_DELAY);
            try (Team team = new Team(spec(step.store, step.mode, step.store.through(proxy.address())), probe)) {
                return measure(team, step);
            }
        }
    }

    private static ContenderSpec spec(StoreAddress store, Mode mode, String uri) {
        return new ContenderSpec(
                mode.title,
                store.toString(),
                ContenderSpec.Kind.OURS,
                HoldfastContender.Factory.class.getName(),
                Map.of("uri", uri, "mode", mode.name().toLowerCase(Locale.ROOT)),
                Arrays.asList(System.getProperty("java.class.path").split(File.pathSeparator)),
                Set.of(Scenario.values()),
                false);
    }
}
