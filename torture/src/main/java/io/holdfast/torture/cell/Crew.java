package io.holdfast.torture.cell;

import io.holdfast.torture.nemesis.Healing;
import io.holdfast.torture.nemesis.Injector;
import io.holdfast.torture.nemesis.PlannedFault;
import io.holdfast.torture.stand.WallClock;
import io.holdfast.torture.worker.UsersExecutor.Conduct;
import io.holdfast.torture.worker.WorkerProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** The workers of a run, and the faults that are done to them. A killed one is started again. Thread-safe. */
final class Crew implements Injector, AutoCloseable {

    /** Starts a worker. */
    @FunctionalInterface
    interface Starter {
        WorkerProcess start(int place, int incarnation);
    }

    private static final List<Conduct> FAILING = List.of(Conduct.HANGS, Conduct.BLOCKS, Conduct.REFUSES);

    /** Longer than a worker takes to do as it is told. */
    private static final Duration OBEYING = Duration.ofMillis(100);

    private final Starter starter;
    private final List<WorkerProcess> workers = new CopyOnWriteArrayList<>();
    private final List<Integer> incarnations = new CopyOnWriteArrayList<>();
    private final List<WallClock> clocks;
    private final Map<String, Long> deaths = new ConcurrentHashMap<>();
    private final List<String> broken = new CopyOnWriteArrayList<>();

    Crew(int size, Starter starter, List<WallClock> clocks) {
        this.starter = starter;
        this.clocks = List.copyOf(clocks);
        for (int place = 0; place < size; place++) {
            workers.add(starter.start(place, 0));
            incarnations.add(0);
        }
    }

    boolean hasBegun() {
        return workers.stream().allMatch(WorkerProcess::hasBegun);
    }

    /** What ended although nobody wanted it to, with its last words. */
    List<String> broken() {
        return broken;
    }

    /** By process, just before when it was killed by a fault. */
    Map<String, Long> deaths() {
        return deaths;
    }

    /** A worker for whom this holds, or any. */
    int choose(PlannedFault fault, Predicate<WorkerProcess> wanted) {
        List<Integer> places = IntStream.range(0, workers.size())
                .filter(place -> wanted.test(workers.get(place)))
                .boxed()
                .toList();
        return places.isEmpty()
                ? fault.pick("worker", workers.size())
                : places.get(fault.pick("worker", places.size()));
    }

    @Override
    public Optional<Healing> begin(PlannedFault fault) throws Exception {
        return switch (fault.fault()) {
            case KILL_HOLDER -> kill(choose(fault, WorkerProcess::isHolding));
            case KILL_WAITER -> kill(choose(fault, worker -> worker.isWaiting() && !worker.isHolding()));
            case PAUSE, STALL -> pause(choose(fault, WorkerProcess::isHolding));
            case CLIENT_CLOCK -> turnClock(fault);
            case EXECUTOR -> failExecutor(fault);
            case MISCHIEF -> Optional.of(Healing.done("every worker, all the time"));
            default -> Optional.empty();
        };
    }

    private Optional<Healing> kill(int place) throws InterruptedException {
        WorkerProcess victim = workers.get(place);
        deaths.put(victim.name(), System.nanoTime());
        victim.kill();
        return Optional.of(Healing.of(victim.name(), () -> startAgain(place)));
    }

    /** SIGSTOP, until it is healed. */
    Optional<Healing> pause(int place) throws IOException, InterruptedException {
        WorkerProcess victim = workers.get(place);
        victim.pause();
        return Optional.of(Healing.of(victim.name(), victim::resume));
    }

    private Optional<Healing> turnClock(PlannedFault fault) {
        if (clocks.isEmpty()) {
            return Optional.empty();
        }
        int place = choose(fault, WorkerProcess::isHolding);
        Duration by = Duration.ofHours(fault.pick("back", 2) == 0 ? 1 : -1);
        clocks.get(place).set(by);
        return Optional.of(Healing.of(
                workers.get(place).name() + " by " + by, () -> clocks.get(place).set(Duration.ZERO)));
    }

    /** Every other time the process is stopped for more than a ttl, too, so that there are losses to tell. */
    private Optional<Healing> failExecutor(PlannedFault fault) throws IOException, InterruptedException {
        WorkerProcess victim = workers.get(choose(fault, WorkerProcess::isHolding));
        Conduct conduct = FAILING.get(fault.pick("conduct", FAILING.size()));
        victim.conductExecutor(conduct);
        if (fault.pick("losses", 2) == 0) {
            TimeUnit.NANOSECONDS.sleep(OBEYING.toNanos());
            victim.pause();
            TimeUnit.NANOSECONDS.sleep(fault.length().dividedBy(4).toNanos());
            victim.resume();
        }
        return Optional.of(Healing.of(
                "the executor of " + victim.name() + ", which " + conduct.word(),
                () -> victim.conductExecutor(Conduct.SERVES)));
    }

    private void startAgain(int place) {
        int incarnation = incarnations.get(place) + 1;
        incarnations.set(place, incarnation);
        workers.set(place, starter.start(place, incarnation));
    }

    /** Lets all finish what they do; returns the names of those that do not, and kills them. */
    List<String> stop(Duration patience) throws InterruptedException {
        for (WorkerProcess worker : workers) {
            if (!worker.isAlive()) {
                broken.add(worker.name() + " ended by itself (exit code " + worker.exitCode() + "): " + worker.log());
            }
            worker.requestStop();
        }
        List<String> stuck = new ArrayList<>();
        long endNanos = System.nanoTime() + patience.toNanos();
        for (WorkerProcess worker : workers) {
            if (!worker.awaitEnd(Duration.ofNanos(Math.max(1, endNanos - System.nanoTime())))) {
                stuck.add(worker.name());
                worker.kill();
            }
        }
        return stuck;
    }

    @Override
    public void close() throws InterruptedException {
        for (WorkerProcess worker : workers) {
            worker.kill();
        }
    }
}
