package io.holdfast.bench.worker;

import com.sun.management.OperatingSystemMXBean;
import io.holdfast.bench.Contender;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** The threads of one worker in one run. */
final class WorkerRun {

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** The longest it may take until those who wait at the end have had their turn. */
    private static final Duration DRAIN_LIMIT = Duration.ofSeconds(90);

    private final List<LoadThread> threads = new ArrayList<>();
    private volatile LoadThread.Phase phase = LoadThread.Phase.WARMING;
    private long cpuNanosAtBegin;

    /** @param command as sent by {@link Team} */
    WorkerRun(Contender contender, Map<String, Object> command) {
        List<?> locks = (List<?>) command.get("locks");
        ExclusionBoard board = ExclusionBoard.open(Path.of((String) command.get("board")), locks.size());
        int first = number(command, "firstThread");
        for (int i = first; i < first + number(command, "threads"); i++) {
            int lock = i % locks.size();
            threads.add(new LoadThread(
                    contender,
                    (String) locks.get(lock),
                    lock,
                    i + 1,
                    Duration.ofNanos((Long) command.get("sectionNanos")),
                    board,
                    () -> phase));
        }
        threads.forEach(Thread::start);
    }

    private static int number(Map<String, Object> command, String field) {
        return ((Long) command.get(field)).intValue();
    }

    /** What is known while it runs. */
    Map<String, Object> state() {
        Map<String, Object> state = new LinkedHashMap<>();
        state.put("entries", threads.stream().mapToLong(LoadThread::entries).sum());
        state.put("ready", threads.stream().allMatch(LoadThread::hasAsked));
        addTrouble(state);
        return state;
    }

    void begin() {
        cpuNanosAtBegin = PROCESS.getProcessCpuTime();
        phase = LoadThread.Phase.MEASURED;
    }

    /** Ends the measurement and waits for the threads. */
    Map<String, Object> end() throws InterruptedException {
        phase = LoadThread.Phase.DRAINING;
        long cpuNanos = PROCESS.getProcessCpuTime() - cpuNanosAtBegin;
        long nowNanos = System.nanoTime();
        long openWaitNanos = threads.stream()
                .mapToLong(thread -> thread.openWaitNanos(nowNanos))
                .max()
                .orElse(0);
        boolean drained = drain();
        Histogram acquires = new Histogram(3);
        Histogram cycles = new Histogram(3);
        threads.forEach(thread -> {
            acquires.add(thread.acquires);
            cycles.add(thread.cycles);
        });
        Map<String, Object> result = state();
        result.put("cpuNanos", cpuNanos);
        result.put("openWaitNanos", openWaitNanos);
        result.put("again", threads.stream().mapToLong(LoadThread::again).sum());
        result.put(
                "perThread",
                threads.stream().map(thread -> thread.acquires.getTotalCount()).toList());
        result.put("acquires", LoadThread.encode(acquires));
        result.put("cycles", LoadThread.encode(cycles));
        if (!drained) {
            result.put("failure", "some threads still waited " + DRAIN_LIMIT.toSeconds() + " s after the end");
        }
        return result;
    }

    private boolean drain() throws InterruptedException {
        long deadlineNanos = System.nanoTime() + DRAIN_LIMIT.toNanos();
        for (LoadThread thread : threads) {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime())));
            if (thread.isAlive()) {
                return false;
            }
        }
        return true;
    }

    private void addTrouble(Map<String, Object> state) {
        state.put(
                "violations", threads.stream().mapToLong(LoadThread::violations).sum());
        threads.stream()
                .map(LoadThread::failure)
                .filter(failure -> failure != null)
                .findFirst()
                .ifPresent(failure -> state.put("failure", Worker.describe(failure)));
    }
}
