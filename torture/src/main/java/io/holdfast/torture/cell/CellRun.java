package io.holdfast.torture.cell;

import io.holdfast.Holdfast;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.torture.check.Checker;
import io.holdfast.torture.check.Rules;
import io.holdfast.torture.check.Verdict;
import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Guard;
import io.holdfast.torture.history.HistoryReader;
import io.holdfast.torture.history.HistoryWriter;
import io.holdfast.torture.history.Operation;
import io.holdfast.torture.history.Phase;
import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.nemesis.FaultLog;
import io.holdfast.torture.nemesis.Healing;
import io.holdfast.torture.nemesis.Nemesis;
import io.holdfast.torture.nemesis.PlannedFault;
import io.holdfast.torture.nemesis.Schedule;
import io.holdfast.torture.resource.ResourceServer;
import io.holdfast.torture.stand.NotPossibleException;
import io.holdfast.torture.stand.Stand;
import io.holdfast.torture.stand.WallClock;
import io.holdfast.torture.worker.WorkerProcess;
import io.holdfast.torture.worker.WorkerSettings;
import io.holdfast.torture.worker.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * Runs one cell: starts the workers, lets the nemesis work, heals, waits for the locks to be served again, stops the workers,
 * looks what is left in the store, and has the history judged.
 */
public final class CellRun {

    /** What {@link Progress} hears when all workers have begun. */
    public static final String RUNNING = "running";

    /** JVMs start slowly on a busy machine. */
    private static final Duration START = Duration.ofSeconds(180);

    /** Of the store, or of a worker, when all is over; a busy machine may be late to answer. */
    private static final Duration LONGEST_OUTAGE = Duration.ofSeconds(30);

    private static final Duration LONGEST_HOLD = Duration.ofSeconds(2);

    /** Longer than threads of a worker rest between two requests. */
    private static final Duration ASKING = Duration.ofMillis(100);

    private final Cell cell;
    private final Rules rules;
    private final Path directory;
    private final Progress progress;
    private final List<String> troubles = new CopyOnWriteArrayList<>();

    /** Hears how far the run is. */
    @FunctionalInterface
    public interface Progress {
        void at(String what);
    }

    /** @param directory for the history; everybody may read it */
    public CellRun(Cell cell, Rules rules, Path directory, Progress progress) {
        this.cell = cell;
        this.rules = rules;
        this.directory = directory;
        this.progress = progress;
    }

    public CellResult run(Stand stand) throws IOException, InterruptedException {
        List<WallClock> clocks = workerClocks();
        Schedule schedule = Schedule.plan(cell.seed(), cell.faults(), cell.length(), cell.ttl());
        Duration settling = settling(stand);
        try (ResourceServer resource = new ResourceServer();
                HistoryWriter history = HistoryWriter.create(directory.resolve("runner.jsonl"));
                MachineWatch machine = new MachineWatch(cell.ttl(), history);
                Network network = new Network(stand, cell.workers(), cell.ttl());
                Crew crew = new Crew(
                        cell.workers(),
                        (place, incarnation) -> {
                            WorkerProcess worker = startWorker(place, incarnation, network, resource, clocks);
                            machine.follow(worker.pid());
                            return worker;
                        },
                        clocks)) {
            awaitBegin(crew);
            progress.at(RUNNING);
            new Nemesis(schedule, fault -> inflict(fault, stand, crew, network), log(history)).run();
            progress.at("healed");
            TimeUnit.MILLISECONDS.sleep(settling.toMillis());
            // Who was served late is judged by the history; this is about those that never are.
            Duration patience = settling.plus(LONGEST_OUTAGE);
            List<String> stuck = crew.stop(patience);
            stuck.forEach(name -> troubles.add(name + " did not end within " + patience.toSeconds() + " s"));
            troubles.addAll(crew.broken());
            progress.at("looking what is left");
            finish(stand, resource, history);
            if (stand.freesTheDeadAtOnce()) {
                crew.deaths().forEach((process, nanos) -> Deaths.release(process, nanos, directory, history));
            }
        }
        List<Event> events = HistoryReader.directory(directory);
        Verdict verdict = Checker.check(events, rules.withProgress(settling));
        if (verdict.counts().grants() == 0) {
            troubles.add("nobody ever got a lease, so nothing was tried");
        }
        return new CellResult(cell, schedule, verdict, troubles, events, directory);
    }

    /** By when a lock must be served again: a dead holder's ttl, the servers' failover, those ahead in line. */
    private Duration settling(Stand stand) {
        boolean serversFail =
                cell.faults().stream().anyMatch(fault -> fault.isOfServers() && !fault.isJudgedWhileItLasts());
        Duration failover = serversFail ? stand.failover() : Duration.ofSeconds(1);
        return cell.ttl().plus(failover).plus(LONGEST_HOLD).plusSeconds(1);
    }

    private List<WallClock> workerClocks() {
        List<WallClock> clocks = new ArrayList<>();
        if (cell.faults().contains(Fault.CLIENT_CLOCK) || cell.faults().contains(Fault.SERVER_CLOCK)) {
            if (!WallClock.isPossible()) {
                throw new NotPossibleException("clocks cannot be moved: no compiler (apt-get install gcc libc6-dev)");
            }
        }
        if (cell.faults().contains(Fault.CLIENT_CLOCK)) {
            for (int i = 0; i < cell.workers(); i++) {
                clocks.add(WallClock.in(directory, "worker-" + i));
            }
        }
        return clocks;
    }

    private WorkerProcess startWorker(
            int place, int incarnation, Network network, ResourceServer resource, List<WallClock> clocks) {
        String name = "w" + (place + 1) + (incarnation == 0 ? "" : "-" + incarnation);
        WorkerSettings settings = new WorkerSettings(
                name,
                directory.resolve(name + HistoryReader.SUFFIX),
                resource.port(),
                prefix(),
                cell.ttl(),
                cell.seed(),
                cell.faults().contains(Fault.MISCHIEF),
                cell.faults().contains(Fault.EXECUTOR),
                cell.workloads());
        Map<String, String> environment =
                clocks.isEmpty() ? Map.of() : clocks.get(place).environment();
        return WorkerProcess.start(settings, network.uri(place), environment);
    }

    /** Names that no other run on this store has. */
    private String prefix() {
        return "torture-" + Long.toString(cell.seed() & Long.MAX_VALUE, 36) + "-" + cell.title() + "-";
    }

    private void awaitBegin(Crew crew) throws InterruptedException {
        long endNanos = System.nanoTime() + START.toNanos();
        while (!crew.hasBegun()) {
            if (System.nanoTime() - endNanos > 0) {
                throw new IllegalStateException(
                        "The workers did not begin within " + START.toSeconds() + " s; their logs are in " + directory);
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    private static Optional<Healing> inflict(PlannedFault fault, Stand stand, Crew crew, Network network)
            throws Exception {
        return switch (fault.fault().family()) {
            case NET ->
                network.begin(
                        fault,
                        crew.choose(
                                fault,
                                worker -> fault.pick("holder", 4) > 0 ? worker.isHolding() : worker.isWaiting()));
            case SERVER -> stand.begin(fault);
            case KILL, PAUSE, CLOCK, MISCHIEF, EXECUTOR ->
                switch (fault.fault()) {
                    case SERVER_CLOCK -> stand.begin(fault);
                    case STOP -> stop(fault, crew, network);
                    default -> crew.begin(fault);
                };
        };
    }

    /** Stops a worker inside requests: those of its threads that ask have sent one, and its answer comes when it is too late. */
    private static Optional<Healing> stop(PlannedFault fault, Crew crew, Network network) throws Exception {
        int worker = crew.choose(fault, one -> one.isWaiting() && !one.isHolding());
        network.holdAnswers(worker);
        try {
            TimeUnit.NANOSECONDS.sleep(ASKING.toNanos());
            return crew.pause(worker);
        } finally {
            network.heal(worker);
        }
    }

    private FaultLog log(HistoryWriter history) {
        return new FaultLog() {
            @Override
            public void began(PlannedFault fault, String target, long nanos) {
                history.write(event(nanos, fault, Phase.INVOKE).detail(target).build());
                progress.at(fault.fault().word() + ": " + target);
            }

            @Override
            public void healed(PlannedFault fault, String target) {
                history.write(
                        event(System.nanoTime(), fault, Phase.OK).detail(target).build());
            }

            @Override
            public void failed(PlannedFault fault, String why) {
                troubles.add(fault.fault().word() + " at " + fault.at().toSeconds() + " s: " + why);
            }

            private Event.Builder event(long nanos, PlannedFault fault, Phase phase) {
                return Event.at(nanos, "nemesis", Operation.FAULT, phase)
                        .value(fault.fault().word());
            }
        };
    }

    private void finish(Stand stand, ResourceServer resource, HistoryWriter history) throws InterruptedException {
        for (Guard guard : Guard.values()) {
            resource.lastWrites(guard)
                    .forEach((lock, last) -> history.write(runner(Operation.FINAL, Phase.OK)
                            .lock(lock)
                            .guard(guard)
                            .value(last)
                            .build()));
        }
        Map<String, String> left = leftovers(stand);
        for (Workload workload : cell.workloads()) {
            String lock = prefix() + workload.word();
            String what = left.get(lock);
            Event.Builder event = runner(Operation.LEFTOVERS, what == null ? Phase.OK : Phase.FAIL)
                    .lock(lock);
            history.write(what == null ? event.build() : event.detail(what).build());
        }
    }

    private static Event.Builder runner(Operation operation, Phase phase) {
        return Event.at(System.nanoTime(), "runner", operation, phase);
    }

    /** What holders and waiters are left, by lock, seen when a ttl and a bit have passed since the store was first seen. */
    private Map<String, String> leftovers(Stand stand) throws InterruptedException {
        try (Holdfast client = Holdfast.connect(stand.uri())) {
            Optional<Long> endNanos = Optional.empty();
            long seenNanos = System.nanoTime();
            while (true) {
                long askedNanos = System.nanoTime();
                try {
                    Map<String, String> left = look(client);
                    seenNanos = System.nanoTime();
                    if (left.isEmpty() || endNanos.isPresent() && askedNanos - endNanos.get() > 0) {
                        return left;
                    }
                    endNanos = endNanos.or(() -> Optional.of(
                            System.nanoTime() + cell.ttl().plusSeconds(3).toNanos()));
                } catch (LockException e) {
                    if (askedNanos - seenNanos > LONGEST_OUTAGE.toNanos()) {
                        return Map.of(prefix() + Workload.EXCLUSIVE.word(), "the store cannot be looked at: " + e);
                    }
                }
                TimeUnit.MILLISECONDS.sleep(200);
            }
        }
    }

    private Map<String, String> look(Holdfast client) {
        Map<String, String> left = new TreeMap<>();
        for (LockView view : client.locks(prefix())) {
            if (view.isHeld() || !view.waiters().isEmpty()) {
                left.put(view.name(), "held by " + view.holders() + ", waited for by " + view.waiters());
            }
        }
        return left;
    }
}
