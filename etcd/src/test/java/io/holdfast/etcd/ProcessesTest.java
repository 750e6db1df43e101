package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.servers.EtcdServer;
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
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Processes that contend for a lock in etcd")
class ProcessesTest {

    private static final int TTL_SECONDS = 3;

    /** What a busy machine may add to the ttl and the second of P4: seconds if nothing else runs, and no word on it else. */
    private static final Duration SLACK = Duration.ofSeconds(3);

    private static final Duration MUCH_SLACK = Duration.ofMinutes(1);

    @TempDir
    Path directory;

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
        try (EtcdServer server = EtcdServer.start()) {
            String name = "lock-" + UUID.randomUUID();
            Path end = directory.resolve("end");
            List<Process> running = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                running.add(start(server, name, 1, 60, end));
            }
            Awaitility.await().atMost(Duration.ofMinutes(4)).until(() -> logs().size() == 50);
            finish(running, end);
            longestGap(stays());
        }
    }

    /** For at least that long, and until each process has had its turn some times: a slow machine takes longer. */
    private void storm(int processes, int threads, Duration length, Duration killEvery, Duration slack)
            throws Exception {
        try (EtcdServer server = EtcdServer.start()) {
            String name = "lock-" + UUID.randomUUID();
            Path end = directory.resolve("end");
            List<Process> running = new ArrayList<>();
            for (int i = 0; i < processes; i++) {
                running.add(start(server, name, threads, TTL_SECONDS, end));
            }
            Random random = new Random(42);
            long killAt = System.nanoTime() + killEvery.toNanos();
            long longEnough = System.nanoTime() + length.toNanos();
            long tooLong = longEnough + TimeUnit.MINUTES.toNanos(2);
            while (System.nanoTime() - longEnough < 0 || stays().size() < 20 * processes) {
                assertThat(System.nanoTime() - tooLong).as("progress").isNegative();
                Awaitility.await().pollDelay(Duration.ofMillis(250)).until(() -> true);
                if (System.nanoTime() - killAt >= 0) {
                    int victim = random.nextInt(processes);
                    running.get(victim).destroyForcibly().waitFor();
                    running.set(victim, start(server, name, threads, TTL_SECONDS, end));
                    killAt = System.nanoTime() + killEvery.toNanos();
                }
            }
            finish(running, end);
            assertThat(longestGap(stays()))
                    .isLessThan(Duration.ofSeconds(TTL_SECONDS + 1).plus(slack));
            Awaitility.await()
                    .atMost(Duration.ofSeconds(TTL_SECONDS + 1).plus(slack))
                    .until(() -> new Etcdctl(server.endpoint())
                            .keys("holdfast/" + name + "/")
                            .isEmpty());
        }
    }

    private static void finish(List<Process> running, Path end) throws Exception {
        Files.createFile(end);
        for (Process process : running) {
            assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        }
    }

    private Process start(EtcdServer server, String name, int threads, int ttlSeconds, Path end) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LockingProcess.class.getName(),
                        "etcd://127.0.0.1:" + server.port(),
                        name,
                        Integer.toString(ttlSeconds),
                        Integer.toString(threads),
                        directory.resolve("log-" + UUID.randomUUID()).toString(),
                        end.toString())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output-" + UUID.randomUUID()).toFile())
                .start();
    }

    private record Stay(long token, long in, long out) {}

    /** What each process that has had a turn writes. */
    private List<Path> logs() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().startsWith("log-"))
                    .toList();
        }
    }

    /** All that is written down so far, in order. */
    private List<Stay> stays() throws IOException {
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
        List<Stay> stays = new ArrayList<>();
        // Of a process killed inside we know only that it had come in.
        ins.forEach((token, in) -> stays.add(new Stay(token, in, outs.getOrDefault(token, in))));
        stays.sort(Comparator.comparingLong(Stay::in));
        return stays;
    }

    /** Nobody is in while another is; tokens, which number the queue, come in order. */
    private static Duration longestGap(List<Stay> stays) {
        long longest = 0;
        for (int i = 1; i < stays.size(); i++) {
            Stay before = stays.get(i - 1);
            Stay after = stays.get(i);
            assertThat(after.in()).as("%s and %s", before, after).isGreaterThanOrEqualTo(before.out());
            assertThat(after.token()).as("%s and %s", before, after).isGreaterThan(before.token());
            longest = Math.max(longest, after.in() - before.in());
        }
        return Duration.ofNanos(longest);
    }
}
