package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Processes")
class ProcessesTest extends RecipeTest {

    /** Nobody's turn takes that long, however many processes share the machine: a count is never taken twice. */
    private static final Duration LONG_TTL = Duration.ofMinutes(1);

    private static final Duration SHORT_TTL = Duration.ofSeconds(2);

    /** How long one process had the lock, in the machine's monotonic time. */
    private record Held(long token, long from, long to) {}

    private final Queue<Held> history = new ConcurrentLinkedQueue<>();
    private final List<Process> started = new ArrayList<>();
    private final AtomicInteger ready = new AtomicInteger();

    @AfterEach
    void killAll() {
        started.forEach(Process::destroyForcibly);
    }

    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "POSTGRESQL"})
    void countRight(Database database) throws Exception {
        countRight(database, 4, 5);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    @Tag("full")
    void fiftyOfThemCountRight(Database database) throws Exception {
        countRight(database, 50, 4);
    }

    private void countRight(Database database, int processes, int rounds) throws Exception {
        String counter = newCounter(database, 0);
        String name = Database.unique("count");
        for (int i = 0; i < processes; i++) {
            start(database, name, LONG_TTL, counter, 1, rounds);
        }
        for (Process process : started) {
            assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue()).isZero();
        }

        assertThat(amount(database, counter)).isEqualTo(processes * rounds);
        assertInOrder();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    @Tag("full")
    void dyingNeverOverlapNorStall(Database database) throws Exception {
        pool(database);
        String name = Database.unique("dying");
        for (int i = 0; i < 16; i++) {
            start(database, name, SHORT_TTL, "-", 4, Integer.MAX_VALUE);
        }
        await().atMost(Duration.ofMinutes(2)).until(() -> ready.get() == started.size());
        Random random = new Random(42);
        AtomicLong longestPauseNanos = watchPauses();
        long begin = System.nanoTime();
        long end = begin + Duration.ofMinutes(1).toNanos();
        while (System.nanoTime() < end) {
            // The time of the dead is over before others die: a holder and then the first who waits would keep the lock
            // for two ttls.
            Thread.sleep(SHORT_TTL.plusSeconds(2).toMillis());
            for (int victim : random.ints(0, started.size()).distinct().limit(4).toArray()) {
                started.get(victim).destroyForcibly();
                started.set(victim, launch(database, name, SHORT_TTL, "-", 4, Integer.MAX_VALUE));
            }
        }
        killAll();

        assertThat(history.size()).isGreaterThan(100);
        List<Held> inOrder = assertInOrder();
        // A machine with fewer cores than processes stops each of them for a while, as it stops us.
        Duration allowed = SHORT_TTL.plusSeconds(1).plusNanos(longestPauseNanos.get());
        for (int i = 1; i < inOrder.size(); i++) {
            long freeSince = Math.max(begin, inOrder.get(i - 1).to());
            Duration stall = Duration.ofNanos(inOrder.get(i).from() - freeSince);
            assertThat(stall)
                    .as("stall before grant %d, allowed %s", i, allowed)
                    .isLessThan(allowed);
        }
        assertThat(database.number("SELECT COUNT(*) FROM holdfast_lock WHERE name = '" + name + "'"))
                .isEqualTo(1);
        // Their tickets are there until somebody sweeps, but in nobody's way.
        try (Holdfast survivor = Holdfast.connect(database.storeUrl())) {
            assertThat(survivor.lock(name).tryAcquire(Duration.ofMinutes(1))).isPresent();
        }
    }

    /** How long at most a thread that wanted to run had to wait for it. */
    private AtomicLong watchPauses() {
        AtomicLong longestNanos = new AtomicLong();
        fork(() -> {
            while (true) {
                long before = System.nanoTime();
                TimeUnit.MILLISECONDS.sleep(1);
                longestNanos.accumulateAndGet(System.nanoTime() - before, Math::max);
            }
        });
        return longestNanos;
    }

    /** Tokens in the order of their times, and no two at a time. Whoever was killed inside has printed nothing. */
    private List<Held> assertInOrder() {
        List<Held> inOrder = new ArrayList<>(history);
        inOrder.sort(Comparator.comparingLong(Held::token));
        for (int i = 1; i < inOrder.size(); i++) {
            assertThat(inOrder.get(i).token()).isGreaterThan(inOrder.get(i - 1).token());
            assertThat(inOrder.get(i).from())
                    .as("grant %d begins after the one before it ended", i)
                    .isGreaterThanOrEqualTo(inOrder.get(i - 1).to());
        }
        return inOrder;
    }

    private void start(Database database, String name, Duration ttl, String counter, int threads, int rounds)
            throws IOException {
        started.add(launch(database, name, ttl, counter, threads, rounds));
    }

    private Process launch(Database database, String name, Duration ttl, String counter, int threads, int rounds)
            throws IOException {
        Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElse("java"),
                        "-Xmx64m",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        CountingProcess.class.getName(),
                        database.storeUrl(),
                        database.url(),
                        name,
                        ttl.toString(),
                        counter,
                        Integer.toString(threads),
                        Integer.toString(rounds))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        Thread reader = new Thread(() -> read(process));
        reader.setDaemon(true);
        reader.start();
        return process;
    }

    private void read(Process process) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
            lines.lines().forEach(line -> {
                if (line.equals(CountingProcess.READY)) {
                    ready.incrementAndGet();
                }
                String[] numbers = line.split(" ");
                if (numbers.length == 3) {
                    history.add(new Held(
                            Long.parseLong(numbers[0]), Long.parseLong(numbers[1]), Long.parseLong(numbers[2])));
                }
            });
        } catch (IOException | UncheckedIOException e) {
            // The process was killed.
        }
    }
}
