package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.cli.console.Failure;
import io.holdfast.servers.EtcdServer;
import io.holdfast.servers.MariaDbServer;
import io.holdfast.servers.PostgresServer;
import io.holdfast.servers.RedisServer;
import io.holdfast.servers.Server;
import io.holdfast.servers.ZooKeeperServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("The holdfast command on every server")
class EveryServerTest {

    private static final Duration SOON = HoldfastProcess.PATIENCE;

    @TempDir
    Path directory;

    /** A server and the store on it. */
    record Running(Server server, String store) implements AutoCloseable {
        @Override
        public void close() {
            server.close();
        }
    }

    enum Kind {
        REDIS(() -> {
            RedisServer server = RedisServer.start();
            return new Running(server, server.uri());
        }),
        ETCD(() -> {
            EtcdServer server = EtcdServer.start();
            return new Running(server, "etcd://127.0.0.1:" + server.port());
        }),
        ZOOKEEPER(() -> {
            // As with the usual tickTime of two seconds; this one's is shorter.
            ZooKeeperServer server =
                    ZooKeeperServer.builder().args("maxSessionTimeout=40000").start();
            return new Running(server, "zookeeper://" + server.connectString());
        }),
        MARIADB(() -> {
            MariaDbServer server = MariaDbServer.start();
            return new Running(server, server.jdbcUrl() + "&createSchema=true");
        }),
        POSTGRESQL(() -> {
            PostgresServer server = PostgresServer.start();
            return new Running(server, server.jdbcUrl() + "&createSchema=true");
        });

        private final Supplier<Running> starter;

        Kind(Supplier<Running> starter) {
            this.starter = starter;
        }

        Running start() {
            return starter.get();
        }
    }

    private HoldfastProcess holdfast(Running on, String... arguments) {
        return HoldfastProcess.start(directory, Map.of("HOLDFAST_STORE", on.store()), arguments);
    }

    @ParameterizedTest
    @EnumSource
    void runsAndShowsWhoHolds(Kind kind) throws IOException {
        try (Running on = kind.start();
                HoldfastProcess holder = holdfast(
                        on,
                        "run",
                        // On a busy machine the server, just started, may not answer the first request in time.
                        "-w",
                        "2m",
                        "job",
                        "--",
                        "sh",
                        "-c",
                        "echo $HOLDFAST_TOKEN; touch held; while [ ! -e stop ]; do sleep 0.1; done; exit 7")) {
            await().atMost(SOON).until(() -> Files.exists(directory.resolve("held")) || !holder.isAlive());
            assertThat(holder.isAlive()).as(holder.err()).isTrue();
            try (HoldfastProcess watching = holdfast(on, "watch", "--json", "--interval", "100ms", "--for", "10m")) {
                await().atMost(SOON).until(() -> watching.out().contains("{\"event\":\"held\",\"name\":\"job\""));
                String token = holder.out().trim();

                assertThat(answer(on, "ls")).contains("job", token, "pid " + holder.pid());
                assertThat(answer(on, "show", "job")).contains("held by", "token " + token, "pid " + holder.pid());
                HoldfastProcess second = ended(on, "run", "-n", "job", "--", "touch", "second");
                assertThat(second.exitCode()).as(second.err()).isEqualTo(1);
                Files.createFile(directory.resolve("stop"));

                assertThat(holder.exitCode()).as(holder.err()).isEqualTo(7);
                await().atMost(SOON).until(() -> watching.out().contains("{\"event\":\"freed\",\"name\":\"job\""));
            }
            assertThat(answer(on, "show", "job")).isEqualTo("job: free\n");
            assertThat(directory.resolve("second")).doesNotExist();
        }
    }

    @Test
    void aDatabaseWithoutTablesIsToldWithTheStatementsThatCreateThem() {
        try (Running on = Kind.POSTGRESQL.start()) {
            Captured listed = await().atMost(SOON)
                    .until(
                            () -> Captured.of("ls", "--store", on.store().replace("&createSchema=true", "")),
                            captured -> !captured.err().contains("in time"));

            assertThat(listed.exitCode()).as(listed.err()).isEqualTo(Failure.STORE_UNREACHABLE.exitCode);
            assertThat(listed.err().lines())
                    .anyMatch(line -> line.startsWith("holdfast: cannot list the locks: There is no table"))
                    .contains("CREATE TABLE IF NOT EXISTS holdfast_lock (")
                    .anyMatch(line -> line.contains("createSchema=true"));
        }
    }

    private String answer(Running on, String... arguments) {
        HoldfastProcess process = ended(on, arguments);
        assertThat(process.exitCode()).as(process.err()).isZero();
        return process.out();
    }

    /** Asked again if the server did not answer in time: on a busy machine both have just been started. */
    private HoldfastProcess ended(Running on, String... arguments) {
        return await().atMost(SOON)
                .pollInSameThread()
                .until(
                        () -> {
                            HoldfastProcess process = holdfast(on, arguments);
                            process.exitCode();
                            return process;
                        },
                        process -> process.exitCode() != Failure.STORE_UNREACHABLE.exitCode);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("full")
    void fiftyProcessesAtOnceCountToFiftyWithTokensInOrder(Kind kind) throws IOException {
        try (Running on = kind.start()) {
            ManyProcessesTest.countToFifty(directory, on.store());
        }
    }
}
