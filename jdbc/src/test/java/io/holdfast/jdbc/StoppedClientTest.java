package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.jdbc.StoppingProcess.Stop;
import io.holdfast.jdbc.StoppingProcess.Through;
import io.holdfast.jdbc.StoppingProcess.Wish;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A process is stopped (SIGSTOP) with requests of every kind under way, each after another statement. All is judged before it goes on. */
@DisplayName("A client stopped inside a request")
class StoppedClientTest extends RecipeTest {

    private static final Duration TTL = Duration.ofSeconds(2);

    private final Queue<String> said = new ConcurrentLinkedQueue<>();
    private final Queue<String> lost = new ConcurrentLinkedQueue<>();
    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void killAll() {
        started.forEach(Process::destroyForcibly);
    }

    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "POSTGRESQL"})
    @Tag("alone")
    @DisplayName("P4 keeps others out no longer than its ttl")
    void keepsOthersOutNoLongerThanItsTtl(Database database) throws Exception {
        assertPassedOn(database, Through.OWN_POOL, List.of(Wish.values()));
    }

    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "POSTGRESQL"})
    @Tag("alone")
    @DisplayName("P4 keeps others out no longer than its ttl, if its connections are the user's too")
    void keepsOthersOutNoLongerThanItsTtlThroughADataSource(Database database) throws Exception {
        assertPassedOn(database, Through.DATA_SOURCE, List.of(Wish.SHARE, Wish.WAIT_ALONE));
    }

    private void assertPassedOn(Database database, Through through, List<Wish> wishes) throws Exception {
        LockOptions options = LockOptions.defaults().withTtl(TTL);
        try (Holdfast healthy = Holdfast.connect(database.storeUrl() + "&connections=20")) {
            Map<Stop, Optional<Lease>> stops = new LinkedHashMap<>();
            for (Wish wish : wishes) {
                for (int statements = 1; statements <= wish.mostStatements; statements++) {
                    Stop stop = new Stop(wish, statements, Database.unique("stop"));
                    boolean waits = wish.waits();
                    // Its row is there, so that a request is what it mostly is.
                    Lease before = healthy.readWriteLock(stop.name(), options)
                            .writeLock()
                            .acquire();
                    stops.put(stop, waits ? Optional.of(before) : Optional.empty());
                    if (!waits) {
                        before.release();
                    }
                }
            }

            stop(database, through, new ArrayList<>(stops.keySet()));
            // A little more than a second, for all of them share this machine.
            Deadline allowed = Deadline.after(TimeSource.system(), TTL.plusMillis(1500));
            Map<Stop, Future<Optional<Lease>>> next = new LinkedHashMap<>();
            stops.forEach((stop, held) -> next.put(stop, fork(() -> {
                held.ifPresent(Lease::release);
                return healthy.readWriteLock(stop.name(), options).writeLock().tryAcquire(allowed.remaining());
            })));

            for (Map.Entry<Stop, Future<Optional<Lease>>> one : next.entrySet()) {
                assertThat(get(one.getValue()))
                        .as("passed on: %s", one.getKey())
                        .isPresent();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "POSTGRESQL"})
    @DisplayName("P9 costs no healthy client a lease")
    void costsNoHealthyClientALease(Database database) throws Exception {
        // Renewed often enough, and not over as soon as this machine halts for a moment.
        LockOptions options = LockOptions.defaults().withTtl(TTL.multipliedBy(3));
        try (Holdfast healthy = Holdfast.connect(database.storeUrl())) {
            List<Lease> leases = new ArrayList<>();
            List<Lease> beside = new ArrayList<>();
            List<Stop> stops = new ArrayList<>();
            for (int statements = 1; statements <= Wish.SHARE.mostStatements; statements++) {
                Stop stop = new Stop(Wish.SHARE, statements, Database.unique("beside"));
                stops.add(stop);
                // The row of this one is locked for a while, which must not matter to the others.
                beside.add(
                        healthy.readWriteLock(stop.name(), options).readLock().acquire());
                leases.add(healthy.lock(Database.unique("unrelated"), options).acquire());
                leases.add(healthy.readWriteLock(Database.unique("unrelated"), options)
                        .readLock()
                        .acquire());
            }
            leases.forEach(lease -> lease.onLost(loss -> lost.add(lease.name() + ": " + loss.detail())));

            stop(database, Through.OWN_POOL, stops);

            RenewalCounts.untilAllAreRenewed(database, leases, 2);
            assertThat(lost).isEmpty();
            assertThat(leases).allMatch(Lease::isValid);
            beside.forEach(Lease::release);
        }
    }

    /** Starts the process and stops it once each request has come to its statement. */
    private void stop(Database database, Through through, List<Stop> stops) throws Exception {
        Process process = launch(database, through, stops);
        await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(said).hasSameSizeAs(stops));
        assertThat(said).anyMatch(line -> line.startsWith(StoppingProcess.REACHED));
        assertThat(new ProcessBuilder("sh", "-c", "kill -STOP " + process.pid())
                        .start()
                        .waitFor())
                .isZero();
        Path state = Path.of("/proc/" + process.pid() + "/stat");
        await().until(() -> Files.readString(state).contains(") T "));
    }

    private Process launch(Database database, Through through, List<Stop> stops) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                StoppingProcess.class.getName(),
                through.name(),
                database.url(),
                TTL.toString()));
        stops.forEach(stop -> command.add(stop.toString()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        started.add(process);
        Thread reader = new Thread(() -> read(process));
        reader.setDaemon(true);
        reader.start();
        return process;
    }

    private void read(Process process) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
            lines.lines()
                    .filter(line -> line.startsWith(StoppingProcess.REACHED) || line.startsWith(StoppingProcess.OVER))
                    .forEach(said::add);
        } catch (IOException | UncheckedIOException e) {
            // The process was killed.
        }
    }
}
