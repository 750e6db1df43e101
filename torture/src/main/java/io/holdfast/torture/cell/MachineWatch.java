package io.holdfast.torture.cell;

import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.HistoryWriter;
import io.holdfast.torture.history.Operation;
import io.holdfast.torture.history.Phase;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Writes down when this machine was too busy to judge waits by: from the start of the first worker on, since a JVM that gets a
 * tenth of a processor takes a minute to its first lock. Thread-safe.
 *
 * <p>Two signs. A thread of ours woke up late by a good part of a ttl. Or a thread of a worker could run and was not let, for more
 * than half of the time looked at; Linux counts that, and a process that a fault has stopped does not count as one that could run.
 * The second sign matters more: a scheduler wakes sleepers soon even where those with work to do get next to nothing.
 */
final class MachineWatch implements AutoCloseable {

    private static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final long latestNanos;
    private final HistoryWriter history;
    private final Path processes;
    private final Set<Long> workers = ConcurrentHashMap.newKeySet();
    private final Thread thread = new Thread(this::watch, "holdfast-torture-machine");
    private Map<Path, Long> delays = new HashMap<>();

    MachineWatch(Duration ttl, HistoryWriter history) {
        this(ttl, history, Path.of("/proc"));
    }

    /** @param processes where the system tells of them */
    MachineWatch(Duration ttl, HistoryWriter history, Path processes) {
        this.latestNanos = ttl.toNanos() / 3;
        this.history = history;
        this.processes = processes;
        thread.setDaemon(true);
        thread.start();
    }

    /** Looks at the threads of that process, too, until it ends. */
    void follow(long pid) {
        workers.add(pid);
    }

    @Override
    public void close() throws InterruptedException {
        thread.interrupt();
        thread.join();
    }

    private void watch() {
        try {
            while (true) {
                long from = System.nanoTime();
                TimeUnit.NANOSECONDS.sleep(WINDOW_NANOS);
                long late = System.nanoTime() - from - WINDOW_NANOS;
                long delay = longestDelay();
                long to = System.nanoTime();
                if (late > latestNanos) {
                    tell(from, to, "a thread of the run woke up late by " + late / 1_000_000 + " ms");
                } else if (delay > (to - from) / 2) {
                    tell(
                            from,
                            to,
                            "a thread of a worker waited for a processor for " + delay / 1_000_000 + " of "
                                    + (to - from) / 1_000_000 + " ms");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void tell(long from, long to, String how) {
        history.write(Event.at(from, "runner", Operation.BUSY, Phase.OK)
                .until(to)
                .detail(how)
                .build());
    }

    /** Of all threads looked at, how long the worst one could run and was not let, since the last look. */
    private long longestDelay() {
        Map<Path, Long> now = new HashMap<>();
        long longest = 0;
        for (long pid : workers) {
            try (DirectoryStream<Path> threads = Files.newDirectoryStream(processes.resolve(pid + "/task"))) {
                for (Path one : threads) {
                    long delay = delayOf(one.resolve("schedstat"));
                    now.put(one, delay);
                    // One seen for the first time has had all of its delay since the last look, for it is new.
                    longest = Math.max(longest, delay - delays.getOrDefault(one, 0L));
                }
            } catch (IOException ended) {
                workers.remove(pid);
            }
        }
        delays = now;
        return longest;
    }

    /** Nanoseconds it waited for a processor; 0 if it has ended, or where nobody counts. */
    private static long delayOf(Path statistics) {
        try {
            return Long.parseLong(Files.readString(statistics).strip().split(" ")[1]);
        } catch (IOException | RuntimeException unknown) {
            return 0;
        }
    }
}
