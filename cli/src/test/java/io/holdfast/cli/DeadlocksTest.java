package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.cli.console.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("holdfast deadlocks")
class DeadlocksTest {

    private static final Duration SOON = HoldfastProcess.PATIENCE;

    @TempDir
    Path directory;

    private Process cross(String store, String client, String held, String wanted) throws IOException {
        return new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        CrossingProgram.class.getName(),
                        store,
                        client,
                        held,
                        wanted,
                        directory.resolve(client + "-holds").toString(),
                        directory.resolve(client + "-go").toString()))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(client + ".log").toFile())
                .start();
    }

    private void awaitHolding(String client, Process process) throws IOException {
        await().atMost(SOON).until(() -> Files.exists(directory.resolve(client + "-holds")) || !process.isAlive());
        assertThat(process.isAlive())
                .as(Files.readString(directory.resolve(client + ".log")))
                .isTrue();
    }

    /** Asked again if the server did not answer in time, as it may on a busy machine. */
    private static Captured answer(EveryServerTest.Running on, String... arguments) {
        List<String> line = new ArrayList<>(List.of(arguments));
        line.addAll(List.of("--store", on.store()));
        return await().atMost(SOON)
                .until(
                        () -> Captured.of(line.toArray(String[]::new)),
                        captured -> captured.exitCode() != Failure.STORE_UNREACHABLE.exitCode);
    }

    @ParameterizedTest
    @EnumSource(names = {"REDIS", "ETCD", "ZOOKEEPER", "POSTGRESQL"})
    void areFoundBetweenTwoProcesses(EveryServerTest.Kind kind) throws IOException {
        try (EveryServerTest.Running on = kind.start()) {
            Process billing = cross(on.store(), "billing", "account/17", "account/23");
            Process refunds = cross(on.store(), "refunds", "account/23", "account/17");
            try {
                awaitHolding("billing", billing);
                awaitHolding("refunds", refunds);
                Files.createFile(directory.resolve("billing-go"));
                await().atMost(SOON)
                        .until(() -> Captured.of("show", "account/23", "--store", on.store())
                                .out()
                                .contains("waiting 1."));
                assertThat(answer(on, "deadlocks"))
                        .as("one merely waits for the other")
                        .isEqualTo(new Captured(0, "No deadlock is suspected.\n", ""));

                Files.createFile(directory.resolve("refunds-go"));
                Captured told = await().atMost(SOON)
                        .until(
                                () -> Captured.of("deadlocks", "--store", on.store()),
                                deadlocks -> deadlocks.exitCode() == 1);
                Captured json = answer(on, "deadlocks", "--json");
                assertThat(told.out())
                        .startsWith("Suspected deadlock, for ")
                        .contains("billing (host ", "pid " + billing.pid(), "thread main")
                        .contains("holds 'account/17' and waits for 'account/23'")
                        .contains("pid " + refunds.pid(), "holds 'account/23' and waits for 'account/17'");
                assertThat(json.exitCode()).isEqualTo(1);
                assertThat(json.out())
                        .hasLineCount(1)
                        .startsWith("[{\"since\":\"")
                        .contains("\"waits\":[{\"lock\":\"account/", "\"holds\":[\"account/17\"]", "\"holder\":{");
            } finally {
                billing.destroyForcibly();
                refunds.destroyForcibly();
            }
        }
    }

    @Test
    void areNotSuspectedWhereNobodyWaitsInACircle() throws InterruptedException {
        String store = "memory:" + UUID.randomUUID();
        try (Holdfast one = Holdfast.connect(store);
                Holdfast two = Holdfast.connect(store);
                Lease held = one.lock("job").acquire()) {
            CompletableFuture<Lease> waiting = two.lock("job").acquireAsync();
            await().atMost(SOON)
                    .until(() -> !one.lock("job").inspect().waiters().isEmpty());

            assertThat(Captured.of("deadlocks", "--store", store))
                    .isEqualTo(new Captured(0, "No deadlock is suspected.\n", ""));
            assertThat(Captured.of("deadlocks", "--json", "--store", store)).isEqualTo(new Captured(0, "[]\n", ""));
            waiting.cancel(true);
            assertThat(held.isValid()).isTrue();
        }
    }
}
