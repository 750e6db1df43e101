package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.servers.PgBouncer;
import io.holdfast.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Behind a pooler that changes connections with every transaction")
class PgBouncerTest {

    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void waitersAreServedAndNothingIsLeftInSessionsOfOthers() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                PgBouncer pooler = PgBouncer.before(server);
                Holdfast one = Holdfast.connect(pooler.jdbcUrl() + "&createSchema=true");
                Holdfast two = Holdfast.connect(pooler.jdbcUrl());
                Holdfast direct = Holdfast.connect(server.jdbcUrl())) {
            for (int round = 0; round < 5; round++) {
                Lease held = one.lock("pooled").acquire();
                List<CompletableFuture<Lease>> waiting = new ArrayList<>();
                waiting.add(two.lock("pooled").acquireAsync());
                waiting.add(direct.lock("pooled").acquireAsync());
                waiting.add(one.lock("pooled").acquireAsync());

                held.release();

                CompletableFuture<Void> all = CompletableFuture.allOf(waiting.stream()
                        .map(turn -> turn.thenAccept(Lease::release))
                        .toArray(CompletableFuture[]::new));
                await().atMost(SOON).until(all::isDone);
                all.join();
            }

            await().atMost(SOON).until(() -> sessionLocks(server) == 0);
            assertThat(direct.lock("pooled").tryAcquire()).isPresent();
            assertThat(settingsOfAnotherProgram(pooler)).allMatch("0 0"::equals);
        }
    }

    /** The limit of waits for rows, and how many channels it listens to, in each session the pooler has open. */
    private static List<String> settingsOfAnotherProgram(PgBouncer pooler) throws Exception {
        List<String> settings = new ArrayList<>();
        List<Connection> atOnce = new ArrayList<>();
        try {
            for (int i = 0; i < 5; i++) {
                Connection connection = DriverManager.getConnection(pooler.jdbcUrl());
                atOnce.add(connection);
                connection.setAutoCommit(false);
                try (Statement statement = connection.createStatement();
                        ResultSet row = statement.executeQuery("SELECT current_setting('lock_timeout') || ' '"
                                + " || (SELECT COUNT(*) FROM pg_listening_channels())")) {
                    row.next();
                    settings.add(row.getString(1));
                }
            }
        } finally {
            for (Connection connection : atOnce) {
                connection.close();
            }
        }
        return settings;
    }

    private static long sessionLocks(PostgresServer server) throws Exception {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory'")) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
