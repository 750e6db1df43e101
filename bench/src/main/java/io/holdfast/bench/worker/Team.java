package io.holdfast.bench.worker;

import io.holdfast.bench.BenchException;
import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.Load;
import io.holdfast.bench.Measurement;
import io.holdfast.bench.Pace;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.server.ServerProbe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The worker JVMs of one contender. They are started when a run needs them and kept for the next, so that only the first
 * one pays for the warm-up. Not thread-safe.
 */
public final class Team implements AutoCloseable {

    private static final Duration WARM_UP_SLICE = Duration.ofSeconds(2);
    private static final int SLICES_WITHOUT_RISE = 3;
    private static final double RISE = 1.05;

    private final ContenderSpec spec;
    private final ServerProbe server;
    private final List<WorkerProcess> workers = new ArrayList<>();
    private final Path directory;
    private final String lockPrefix;
    private int runs;

    public Team(ContenderSpec spec, ServerProbe server) {
        this.spec = spec;
        this.server = server;
        this.lockPrefix = "holdfast-bench/" + Long.toString(System.nanoTime() & 0xffffffffL, 36) + "-";
        try {
            this.directory = Files.createTempDirectory("holdfast-bench-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public ContenderSpec spec() {
        return spec;
    }

    /** Starts the JVMs a load needs. */
    public void start(int jvms) {
        int present = workers.size();
        for (int i = present; i < jvms; i++) {
            workers.add(WorkerProcess.start(spec.classPath(), directory.resolve("worker-" + i + ".log")));
        }
        List<WorkerProcess> fresh = workers.subList(present, workers.size());
        fresh.forEach(
                worker -> worker.send(Map.of("do", "open", "factory", spec.factory(), "settings", spec.settings())));
        fresh.forEach(WorkerProcess::answer);
    }

    /**
     * Runs a load until it is steady and then measures it.
     *
     * @throws BenchException if it has no result: a failure, or two were inside at once
     */
    public Measurement measure(Scenario scenario, Load load, Pace pace) {
        try {
            return scenario == Scenario.HELD ? hold(load) : run(scenario, load, pace);
        } catch (BenchException e) {
            // Threads may still run, or hang: the next run gets fresh JVMs.
            endWorkers();
            throw e;
        }
    }

    /** Whether its JVMs have not run anything yet, perhaps because the last ones ended with a failure. */
    public boolean isFresh() {
        return workers.isEmpty();
    }

    /** Keeps its JVMs from running (SIGSTOP), for those that are not quiet when they have nothing to do. */
    public void pause() {
        workers.forEach(worker -> worker.signal("STOP"));
    }

    public void resume() {
        workers.forEach(worker -> worker.signal("CONT"));
    }

    /** Runs a load without measuring it until its rate rises no more: JVMs that are seldom served take long to be compiled. */
    public void warmUntilSteady(Load load, Duration atLeast, Duration atMost) {
        warm(load, active -> {
            long startNanos = System.nanoTime();
            double best = 0;
            int slicesWithoutRise = 0;
            while (true) {
                long entries = entries(active);
                sleep(WARM_UP_SLICE);
                double rate = entries(active) - entries;
                slicesWithoutRise = rate > best * RISE ? 0 : slicesWithoutRise + 1;
                best = Math.max(best, rate);
                Duration passed = Duration.ofNanos(System.nanoTime() - startNanos);
                boolean steady = slicesWithoutRise >= SLICES_WITHOUT_RISE && passed.compareTo(atLeast) >= 0;
                if (steady || passed.compareTo(atMost) >= 0) {
                    return;
                }
            }
        });
    }

    private void warm(Load load, Consumer<List<WorkerProcess>> wait) {
        try {
            start(load.jvms());
            List<WorkerProcess> active = workers.subList(0, load.jvms());
            Path boardFile = directory.resolve("board-" + runs);
            ExclusionBoard board = ExclusionBoard.create(boardFile, load.locks());
            startThreads(active, load, boardFile);
            wait.accept(active);
            finish(load, board, boardFile, all(active, "end"));
        } catch (BenchException e) {
            endWorkers();
            throw e;
        }
    }

    private Measurement run(Scenario scenario, Load load, Pace pace) {
        start(load.jvms());
        List<WorkerProcess> active = workers.subList(0, load.jvms());
        Path boardFile = directory.resolve("board-" + runs);
        ExclusionBoard board = ExclusionBoard.create(boardFile, load.locks());
        startThreads(active, load, boardFile);
        awaitSteady(active, pace);
        ServerProbe.Sample before = server.sample();
        long startNanos = System.nanoTime();
        all(active, "begin");
        List<Double> series = watch(active, pace);
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        ServerProbe.Sample after = server.sample();
        List<Map<String, Object>> results = all(active, "end");
        finish(load, board, boardFile, results);
        return Measurement.of(spec, scenario, load, seconds, results, series, before, after);
    }

    private void startThreads(List<WorkerProcess> active, Load load, Path boardFile) {
        String run = lockPrefix + runs++ + "/";
        List<String> locks =
                IntStream.range(0, load.locks()).mapToObj(i -> run + i).toList();
        int first = 0;
        for (int i = 0; i < active.size(); i++) {
            active.get(i)
                    .send(Map.of(
                            "do",
                            "start",
                            "locks",
                            locks,
                            "firstThread",
                            first,
                            "threads",
                            load.threadsOf(i),
                            "sectionNanos",
                            load.section().toNanos(),
                            "board",
                            boardFile.toString()));
            first += load.threadsOf(i);
        }
        active.forEach(WorkerProcess::answer);
    }

    /** Waits until all threads ask for their locks, and the last few rates are about the same, or patience ends. */
    private void awaitSteady(List<WorkerProcess> active, Pace pace) {
        long startNanos = System.nanoTime();
        Deque<Double> rates = new ArrayDeque<>();
        long entries = 0;
        long sinceNanos = startNanos;
        while (true) {
            sleep(pace.slice());
            List<Map<String, Object>> states = all(active, "state");
            long now = states.stream()
                    .mapToLong(state -> (Long) state.get("entries"))
                    .sum();
            long nowNanos = System.nanoTime();
            rates.addLast((now - entries) * 1e9 / (nowNanos - sinceNanos));
            entries = now;
            sinceNanos = nowNanos;
            if (rates.size() > Pace.SLICES) {
                rates.removeFirst();
            }
            states.forEach(Team::requireNoFailure);
            boolean ready = states.stream().allMatch(state -> (Boolean) state.get("ready"));
            Duration passed = Duration.ofNanos(nowNanos - startNanos);
            if (ready && passed.compareTo(pace.patience()) >= 0
                    || ready && passed.compareTo(pace.settle()) >= 0 && isSteady(rates)) {
                return;
            }
            if (passed.compareTo(pace.patience().plusSeconds(60)) > 0) {
                throw new BenchException("not all threads had asked for the lock after a minute");
            }
        }
    }

    private static boolean isSteady(Deque<Double> rates) {
        double most = rates.stream().mapToDouble(Double::doubleValue).max().orElse(0);
        double least = rates.stream().mapToDouble(Double::doubleValue).min().orElse(0);
        return rates.size() == Pace.SLICES && most > 0 && (most - least) / most <= Pace.TOLERANCE;
    }

    /** Lets the load run and returns the rate of each slice of time. */
    private List<Double> watch(List<WorkerProcess> active, Pace pace) {
        List<Double> series = new ArrayList<>();
        long startNanos = System.nanoTime();
        long sinceNanos = startNanos;
        long entries = entries(active);
        int slices = 20;
        for (int i = 1; i <= slices; i++) {
            long dueNanos = startNanos + pace.measured().toNanos() * i / slices;
            sleep(Duration.ofNanos(Math.max(0, dueNanos - System.nanoTime())));
            long now = entries(active);
            long nowNanos = System.nanoTime();
            series.add((now - entries) * 1e9 / (nowNanos - sinceNanos));
            entries = now;
            sinceNanos = nowNanos;
        }
        return series;
    }

    private static long entries(List<WorkerProcess> active) {
        return all(active, "state").stream()
                .mapToLong(state -> (Long) state.get("entries"))
                .sum();
    }

    private void finish(Load load, ExclusionBoard board, Path boardFile, List<Map<String, Object>> results) {
        results.forEach(Team::requireNoFailure);
        long violations = results.stream()
                .mapToLong(result -> (Long) result.get("violations"))
                .sum();
        long entries = results.stream()
                .mapToLong(result -> (Long) result.get("entries"))
                .sum();
        long lost = entries - board.entries();
        try {
            Files.deleteIfExists(boardFile);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (violations > 0 || lost != 0) {
            throw new BenchException("no exclusion: in " + entries + " acquisitions of " + load.locks()
                    + " lock(s) two were inside at once " + violations + " times, and " + lost
                    + " increments of the counter in their care were lost");
        }
    }

    private Measurement hold(Load load) {
        start(1);
        WorkerProcess worker = workers.get(0);
        worker.call(Map.of("do", "hold", "prefix", lockPrefix + runs++ + "/", "locks", load.locks()));
        ServerProbe.Sample before = server.sample();
        sleep(load.section());
        ServerProbe.Sample after = server.sample();
        Map<String, Object> result = worker.call(Map.of("do", "letGo"));
        long violations = (Long) result.get("violations");
        if (violations > 0) {
            throw new BenchException("no exclusion: " + violations + " of " + load.locks()
                    + " leases were lost, or others could have their locks");
        }
        return Measurement.ofHeld(spec, load, result, before, after);
    }

    private static List<Map<String, Object>> all(List<WorkerProcess> active, String command) {
        active.forEach(worker -> worker.send(Map.of("do", command)));
        return active.stream().map(WorkerProcess::answer).toList();
    }

    private static void requireNoFailure(Map<String, Object> state) {
        if (state.containsKey("failure")) {
            throw new BenchException((String) state.get("failure"));
        }
    }

    private static void sleep(Duration time) {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted");
        }
    }

    private void endWorkers() {
        workers.forEach(WorkerProcess::close);
        workers.clear();
    }

    @Override
    public void close() {
        endWorkers();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
