package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.servers.ZooKeeperServer;
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
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("full")
@DisplayName("Processes that contend for a lock in ZooKeeper")
class ProcessesTest {

    private static final int TTL_SECONDS = 3;

    /** What a busy machine may add to the ttl and the second of P4. */
    private static final Duration SLACK = Duration.ofSeconds(3);

    @TempDir
    Path directory;

    @Test
    void p1p4p6ThreeProcessesOfWhichOneIsKilledNowAndThen() throws Exception {
        storm(3, 2, Duration.ofSeconds(12), Duration.ofSeconds(5));
    }

    @Test
    void p1p4p6SixteenProcessesOfWhichOneIsKilledEverySecond() throws Exception {
        storm(16, 4, Duration.ofSeconds(60), Duration.ofSeconds(1));
    }

    @Test
    void p1FiftyProcesses() throws Exception {
        storm(50, 1, Duration.ofSeconds(30), Duration.ofSeconds(40));
    }

    private void storm(int processes, int threads, Duration length, Duration killEvery) throws Exception {
        try (ZooKeeperServer server = TestServers.single()) {
            String name = "lock-" + UUID.randomUUID();
            long end = System.nanoTime() + length.toNanos();
            List<Process> running = new ArrayList<>();
            for (int i = 0; i < processes; i++) {
                running.add(start(server, name, threads, end));
            }
            Random random = new Random(42);
            while (System.nanoTime() + killEvery.toNanos() - end < 0) {
                Awaitility.await().pollDelay(killEvery).until(() -> true);
                int victim = random.nextInt(processes);
                running.get(victim).destroyForcibly().waitFor();
                running.set(victim, start(server, name, threads, end));
            }
            for (Process process : running) {
                assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
                assertThat(process.exitValue()).isZero();
            }
            check();
            ZooKeeper admin = TestServers.client(server.connectString());
            Awaitility.await()
                    .atMost(Duration.ofSeconds(TTL_SECONDS + 4))
                    .until(() -> admin.getChildren("/locks/" + name, false).isEmpty());
            admin.close();
        }
    }

    private Process start(ZooKeeperServer server, String name, int threads, long end) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LockingProcess.class.getName(),
                        TestServers.uri(server.connectString()),
                        name,
                        Integer.toString(TTL_SECONDS),
                        Integer.toString(threads),
                        directory.resolve("log-" + UUID.randomUUID()).toString(),
                        Long.toString(end))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output-" + UUID.randomUUID()).toFile())
                .start();
    }

    private record Stay(long token, long in, long out) {}

    /** Nobody is in while another is; tokens, which are places in line, come in order; nothing stalls. */
    private void check() throws IOException {
        Map<Long, Long> ins = new HashMap<>();
        Map<Long, Long> outs = new HashMap<>();
        try (var files = Files.list(directory)) {
            for (Path log : files.filter(file -> file.getFileName().toString().startsWith("log-"))
                    .toList()) {
                for (String line : Files.readAllLines(log)) {
                    String[] words = line.split(" ");
                    if (words.length == 3 && (words[0].equals("in") || words[0].equals("out"))) {
                        (words[0].equals("in") ? ins : outs).put(Long.valueOf(words[1]), Long.valueOf(words[2]));
                    }
                }
            }
        }
        List<Stay> stays = new ArrayList<>();
        // Of a process killed inside we know only that it had come in.
        ins.forEach((token, in) -> stays.add(new Stay(token, in, outs.getOrDefault(token, in))));
        stays.sort(Comparator.comparingLong(Stay::in));
        long longest = 0;
        for (int i = 1; i < stays.size(); i++) {
            Stay before = stays.get(i - 1);
            Stay after = stays.get(i);
            assertThat(after.in()).as("%s and %s", before, after).isGreaterThanOrEqualTo(before.out());
            assertThat(after.token()).as("%s and %s", before, after).isGreaterThan(before.token());
            longest = Math.max(longest, after.in() - before.in());
        }
        System.out.printf(
                "ZooKeeper storm: %d stays, longest gap %d ms%n", stays.size(), TimeUnit.NANOSECONDS.toMillis(longest));
        assertThat(stays).hasSizeGreaterThan(20);
        assertThat(Duration.ofNanos(longest))
                .isLessThan(Duration.ofSeconds(TTL_SECONDS + 1).plus(SLACK));
    }
}
