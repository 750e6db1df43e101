package io.holdfast.tck.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that want one lock in strict order and are killed now and then: no two hold it at once, tokens come in the order
 * of the queue, no death stalls the others for longer than P4 allows, and nothing is left in the store.
 *
 * <p>A store's test class extends this and says where its server is; the test's class path has to hold the store.
 */
public abstract class KilledProcessesContract {

    private static final Duration TTL = Duration.ofSeconds(3);

    /** The ttl and the second of P4. */
    private static final Duration PASSED_ON = TTL.plusSeconds(1);

    /** What a machine that runs nothing else may add to that. */
    private static final Duration SLACK = Duration.ofSeconds(3);

    /** What one may add that runs other tests: so much that only a queue that stands still is noticed. */
    private static final Duration MUCH_SLACK = Duration.ofMinutes(1);

    @TempDir
    Path directory;

    private final List<Process> started = new ArrayList<>();

    /** The store's URI; its server is this test's alone. */
    protected abstract String uri();

    /** Whether the store holds no ticket of that lock. */
    protected abstract boolean isClean(String lock) throws Exception;

    @AfterEach
    void killAll() {
        started.forEach(Process::destroyForcibly);
    }

    @Test
    void p1p4p6ThreeProcessesOfWhichOneIsKilledNowAndThen() throws Exception {
        storm(3, 2, Duration.ofSeconds(5), Duration.ofSeconds(4), MUCH_SLACK);
    }

    @Test
    @Tag("full")
    void p1p4p6SixteenProcessesOfWhichOneIsKilledEverySecond() throws Exception {
        storm(16, 4, Duration.ofSeconds(60), Duration.ofSeconds(1), SLACK);
    }

    @Test
    @Tag("full")
    void p1FiftyProcessesThatEachHaveTheirTurn() throws Exception {
        // No word on stalls: fifty JVMs that start at once keep two cores busy for longer than any ttl of interest.
        List<Process> running = startAll(newName(), 50, 1, Duration.ofMinutes(1));
        finish(running);
        longestGap(holds());
    }

    /** For at least that long, and until there were some holds per process: a slow machine takes longer. */
    private void storm(int processes, int threads, Duration length, Duration killEvery, Duration slack)
            throws Exception {
        String lock = newName();
        List<Process> running = startAll(lock, processes, threads, TTL);
        Random random = new Random(42);
        long killAt = System.nanoTime() + killEvery.toNanos();
        long longEnough = System.nanoTime() + length.toNanos();
        long tooLong = longEnough + TimeUnit.MINUTES.toNanos(2);
        while (System.nanoTime() - longEnough < 0 || holds().size() < 10 * processes) {
            assertThat(System.nanoTime() - tooLong).as("progress").isNegative();
            Awaitility.await().pollDelay(Duration.ofMillis(250)).until(() -> true);
            if (System.nanoTime() - killAt >= 0) {
                int victim = random.nextInt(processes);
                running.get(victim).destroyForcibly().waitFor();
                running.set(victim, start(lock, threads, TTL));
                killAt = System.nanoTime() + killEvery.toNanos();
            }
        }
        finish(running);
        assertThat(longestGap(holds())).isLessThan(PASSED_ON.plus(slack));
        Awaitility.await().atMost(PASSED_ON.plus(slack)).until(() -> isClean(lock));
    }

    private static String newName() {
        return "lock-" + UUID.randomUUID();
    }

    /** Starts them and waits until each has had the lock. */
    private List<Process> startAll(String lock, int processes, int threads, Duration ttl) throws IOException {
        List<Process> running = new ArrayList<>();
        for (int i = 0; i < processes; i++) {
            running.add(start(lock, threads, ttl));
        }
        Awaitility.await().atMost(Duration.ofMinutes(4)).until(() -> logs().size() == processes);
        return running;
    }

    private Process start(String lock, int threads, Duration ttl) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LockingProcess.class.getName(),
                        uri(),
                        lock,
                        Long.toString(ttl.toSeconds()),
                        Integer.toString(threads),
                        directory.resolve("log-" + UUID.randomUUID()).toString(),
                        endFile().toString())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output-" + UUID.randomUUID()).toFile())
                .start();
        started.add(process);
        return process;
    }

    private void finish(List<Process> running) throws Exception {
        Files.createFile(endFile());
        for (Process process : running) {
            assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        }
    }

    private Path endFile() {
        return directory.resolve("end");
    }

    private record Hold(long token, long in, long out) {}

    /** What each process that has had the lock writes. */
    private List<Path> logs() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().startsWith("log-"))
                    .toList();
        }
    }

    /** All that is written down so far, in order of time. */
    private List<Hold> holds() throws IOException {
        Map<Long, Long> ins = new HashMap<>();
        Map<Long, Long> outs = new HashMap<>();
        for (Path log : logs()) {
            for (String line : Files.readAllLines(log)) {
                String[] words = line.split(" ");
                if (words.length == 3 && (words[0].equals("in") || words[0].equals("out"))) {
                    (words[0].equals("in") ? ins : outs).put(Long.valueOf(words[1]), Long.valueOf(words[2]));
                }
            }
        }
        List<Hold> holds = new ArrayList<>();
        // Of a process killed inside we know only that it had come in.
        ins.forEach((token, in) -> holds.add(new Hold(token, in, outs.getOrDefault(token, in))));
        holds.sort(Comparator.comparingLong(Hold::in));
        return holds;
    }

    /** Checks that no two overlap and that tokens grow. */
    private static Duration longestGap(List<Hold> holds) {
        long longest = 0;
        for (int i = 1; i < holds.size(); i++) {
            Hold before = holds.get(i - 1);
            Hold after = holds.get(i);
            assertThat(after.in()).as("%s and %s", before, after).isGreaterThanOrEqualTo(before.out());
            assertThat(after.token()).as("%s and %s", before, after).isGreaterThan(before.token());
            longest = Math.max(longest, after.in() - before.in());
        }
        return Duration.ofNanos(longest);
    }
}
