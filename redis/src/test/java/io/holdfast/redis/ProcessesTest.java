package io.holdfast.redis;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Fairness;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Processes that queue on one lock and are killed")
class ProcessesTest extends RedisTest {

    private static final Duration TTL = Duration.ofSeconds(5);

    /** The ttl and the second of P4, and what a busy machine may add. */
    private static final Duration LONGEST_GAP = TTL.plusSeconds(1).plusSeconds(3);

    @TempDir
    Path directory;

    /**
     * One time somebody held the lock, by the clock all processes share.
     *
     * @param askedNanos before it asked to be queued
     * @param queuedNanos when it knew that it is
     * @param releasedNanos before it gave the lock back; if it was killed first, when it was last known to have it
     */
    private record Hold(long token, long askedNanos, long queuedNanos, long grantedNanos, long releasedNanos) {}

    /** Between which two moments a thread was queued. */
    private record Queued(long askedNanos, long queuedNanos) {}

    /** What each process runs: threads that take the lock and note when, until it is killed or told to end. */
    static final class Contender {

        private static final ThreadLocal<Queued> QUEUED = new ThreadLocal<>();

        private Contender() {}

        public static void main(String[] arguments) throws Exception {
            String lockName = arguments[1];
            Path log = Path.of(arguments[2]);
            int threads = Integer.parseInt(arguments[3]);
            Path stop = log.resolveSibling("stop");
            try (Holdfast client =
                    Holdfast.builder().store(notingWhenQueued(arguments[0])).connect()) {
                LockOptions options = LockOptions.defaults().withTtl(TTL).withFairness(Fairness.FIFO);
                DistributedLock lock = client.lock(lockName, options);
                beginToListen(client, arguments[0]);
                List<Thread> running = new ArrayList<>();
                for (int i = 0; i < threads; i++) {
                    Path own = log.resolveSibling(log.getFileName() + "-" + i);
                    Thread thread = new Thread(() -> contend(lock, own, stop));
                    thread.start();
                    running.add(thread);
                }
                for (Thread thread : running) {
                    thread.join();
                }
            }
        }

        /** By waiting once: who is slow to subscribe for the first time queues unheard, and is passed over rightly. */
        private static void beginToListen(Holdfast client, String uri) throws Exception {
            String own = "own-" + UUID.randomUUID();
            try (Holdfast other = Holdfast.connect(uri)) {
                Lease held = other.lock(own).acquire();
                CompletableFuture<Lease> waiting = client.lock(own).acquireAsync();
                await().until(() -> !other.lock(own).inspect().waiters().isEmpty());
                held.release();
                waiting.get(20, TimeUnit.SECONDS).release();
            }
        }

        private static StoreFactory notingWhenQueued(String uri) {
            return context -> {
                LockStore store = new RedisStores().store(StoreUri.parse(uri)).open(context);
                return (LockStore) Proxy.newProxyInstance(
                        Contender.class.getClassLoader(),
                        new Class<?>[] {LockStore.class},
                        (proxy, method, arguments) -> {
                            long asked = System.nanoTime();
                            try {
                                Object answer = method.invoke(store, arguments);
                                if (method.getName().equals("request") && arguments[1] == LockStore.Mode.QUEUE) {
                                    QUEUED.set(new Queued(asked, System.nanoTime()));
                                }
                                return answer;
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
            };
        }

        private static void contend(DistributedLock lock, Path log, Path stop) {
            while (!Files.exists(stop)) {
                try {
                    Lease lease = lock.acquire();
                    long granted = System.nanoTime();
                    Queued queued = QUEUED.get();
                    note(log, "granted", lease.token(), queued.askedNanos(), queued.queuedNanos(), granted);
                    long released = System.nanoTime();
                    lease.release();
                    note(log, "released", lease.token(), released);
                } catch (LockException e) {
                    // Its server is alive all the time, but a loaded machine may be slow: ask again.
                } catch (InterruptedException | IOException e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        private static void note(Path log, String event, long... numbers) throws IOException {
            String line = Arrays.stream(numbers).mapToObj(String::valueOf).collect(joining(" ", event + " ", " .\n"));
            Files.writeString(
                    log, line, StandardCharsets.US_ASCII, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }

    @Test
    void anOverlapWouldBeSeen() {
        Hold first = new Hold(1, 0, 10, 20, 40);
        Hold second = new Hold(2, 0, 10, 39, 50);

        assertThatThrownBy(() -> check(List.of(first, second))).isInstanceOf(AssertionError.class);
    }

    @Test
    void anOvertakingWouldBeSeen() {
        Hold late = new Hold(1, 11, 12, 20, 30);
        Hold early = new Hold(2, 0, 10, 40, 50);

        assertThatThrownBy(() -> check(List.of(late, early))).isInstanceOf(AssertionError.class);
    }

    @Test
    void aStallWouldBeSeen() {
        long end = LONGEST_GAP.toNanos() + 31;
        Hold first = new Hold(1, 0, 10, 20, 30);
        Hold second = new Hold(2, 0, 10, end, end);

        assertThatThrownBy(() -> check(List.of(first, second))).isInstanceOf(AssertionError.class);
    }

    @Test
    void aFewProcessesKilledAtRandom() throws Exception {
        contend(4, 2, Duration.ofSeconds(4));
    }

    @Test
    @Tag("full")
    void sixteenProcessesOfFourThreadsForAMinute() throws Exception {
        contend(16, 4, Duration.ofSeconds(60));
    }

    private void contend(int processes, int threads, Duration time) throws Exception {
        String lock = name();
        Random random = new Random(11);
        List<Process> running = new ArrayList<>();
        int number = 0;
        for (; number < processes; number++) {
            running.add(start(lock, number, threads));
        }
        await().until(() -> !holds().isEmpty());
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            TimeUnit.SECONDS.sleep(1);
            Process victim = running.remove(random.nextInt(running.size()));
            victim.destroyForcibly().waitFor();
            running.add(start(lock, number++, threads));
        }
        Files.createFile(directory.resolve("stop"));
        for (Process process : running) {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
        check(holds());
        await().untilAsserted(() -> assertThat(redis.keys("*" + lock + "*"))
                .containsExactly(keys(lock).counter()));
    }

    private static void check(List<Hold> holds) {
        Duration longestGap = Duration.ZERO;
        long overlaps = 0;
        long overtakings = 0;
        Hold first = holds.get(0);
        long lastReleased = first.releasedNanos();
        long lastAsked = first.askedNanos();
        for (Hold hold : holds.subList(1, holds.size())) {
            long gap = hold.grantedNanos() - lastReleased;
            if (gap < 0) {
                overlaps++;
            }
            // It was queued before somebody with a smaller token had asked to be.
            if (hold.queuedNanos() - lastAsked < 0) {
                overtakings++;
            }
            longestGap = Duration.ofNanos(Math.max(longestGap.toNanos(), gap));
            lastReleased = Math.max(lastReleased, hold.releasedNanos());
            lastAsked = Math.max(lastAsked, hold.askedNanos());
        }
        assertThat(overlaps).as("granted before the one before gave it back").isZero();
        assertThat(overtakings).as("granted after one who came later").isZero();
        assertThat(longestGap).isLessThanOrEqualTo(LONGEST_GAP);
    }

    /** In the order of their tokens. */
    private List<Hold> holds() throws IOException {
        Map<Long, Hold> holds = new TreeMap<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(path -> path.getFileName().toString().startsWith("log"))
                    .toList()) {
                // A killed process may leave half a line.
                Files.readString(file, StandardCharsets.US_ASCII)
                        .lines()
                        .map(line -> line.split(" "))
                        .filter(parts -> parts[parts.length - 1].equals("."))
                        .forEach(parts -> read(parts, holds));
            }
        }
        return List.copyOf(holds.values());
    }

    private static void read(String[] parts, Map<Long, Hold> holds) {
        long[] numbers = Arrays.stream(parts, 1, parts.length - 1)
                .mapToLong(Long::parseLong)
                .toArray();
        if (parts[0].equals("granted")) {
            Hold hold = new Hold(numbers[0], numbers[1], numbers[2], numbers[3], numbers[3]);
            assertThat(holds.put(hold.token(), hold)).as("a token twice").isNull();
        } else {
            holds.computeIfPresent(
                    numbers[0],
                    (token, hold) ->
                            new Hold(token, hold.askedNanos(), hold.queuedNanos(), hold.grantedNanos(), numbers[1]));
        }
    }

    private Process start(String lock, int number, int threads) throws IOException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Contender.class.getName(),
                server.uri(),
                lock,
                directory.resolve("log-" + number).toString(),
                String.valueOf(threads));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output-" + number).toFile())
                .start();
        closing(process, started -> started.destroyForcibly());
        return process;
    }
}
