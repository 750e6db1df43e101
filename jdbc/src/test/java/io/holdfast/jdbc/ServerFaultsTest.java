package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.ReleaseResult;
import io.holdfast.StoreUnavailableException;
import io.holdfast.servers.MariaDbServer;
import io.holdfast.servers.PostgresServer;
import io.holdfast.servers.Server;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Servers that die, hang and refuse. Each documented in docs/stores/jdbc.md. */
class ServerFaultsTest {

    @Nested
    @DisplayName("MariaDB in trouble")
    class MariaDb extends Troubles {
        @Override
        Server start() {
            return MariaDbServer.start();
        }

        @Override
        String url(Server server) {
            return ((MariaDbServer) server).jdbcUrl();
        }

        @Override
        String killOthers() {
            return "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user = 'root'";
        }

        @Override
        void readOnly(boolean on) {
            // An administrator may still write: the client is given a user of its own.
            admin(
                    "CREATE USER IF NOT EXISTS app@'127.0.0.1'",
                    "GRANT ALL ON holdfast.* TO app@'127.0.0.1'",
                    "SET GLOBAL read_only = " + (on ? 1 : 0));
        }

        @Override
        String plainUserUrl() {
            return url(server).replace("user=root", "user=app");
        }

        @Override
        String demotedUrl() {
            return plainUserUrl();
        }

        @Override
        String sessionsOfDemoted() {
            return "SELECT id FROM information_schema.processlist WHERE user = 'app'";
        }

        @Override
        String[] lockTable() {
            return new String[] {"LOCK TABLES holdfast_lock WRITE"};
        }
    }

    @Nested
    @DisplayName("PostgreSQL in trouble")
    class Postgres extends Troubles {
        @Override
        Server start() {
            return PostgresServer.start();
        }

        @Override
        String url(Server server) {
            return ((PostgresServer) server).jdbcUrl();
        }

        @Override
        String killOthers() {
            return "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                    + " AND backend_type = 'client backend'";
        }

        @Override
        void readOnly(boolean on) {
            admin("ALTER SYSTEM SET default_transaction_read_only = " + (on ? "on" : "off"), "SELECT pg_reload_conf()");
        }

        @Override
        String plainUserUrl() {
            return url(server);
        }

        @Override
        String demotedUrl() {
            return url(server) + "&ApplicationName=demoted";
        }

        @Override
        String sessionsOfDemoted() {
            return "SELECT pid FROM pg_stat_activity WHERE application_name = 'demoted'";
        }

        @Override
        String[] lockTable() {
            return new String[] {"BEGIN", "LOCK TABLE holdfast_lock IN ACCESS EXCLUSIVE MODE"};
        }
    }

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Troubles {

        private static final Duration TTL = Duration.ofSeconds(3);
        private static final Duration SOON = Duration.ofSeconds(30);

        Server server;

        abstract Server start();

        abstract String url(Server server);

        abstract String killOthers();

        abstract void readOnly(boolean on);

        abstract String plainUserUrl();

        /** For a client whose sessions can be told from others. */
        abstract String demotedUrl();

        abstract String sessionsOfDemoted();

        abstract String[] lockTable();

        @BeforeAll
        void startServer() {
            server = start();
        }

        @AfterAll
        void stopServer() {
            server.close();
        }

        @AfterEach
        void serverIsBack() {
            if (!server.isRunning()) {
                server.restart();
            }
        }

        Holdfast client() {
            return client(url(server));
        }

        Holdfast client(String url) {
            return Holdfast.builder()
                    .store(url + "&createSchema=true")
                    .defaults(LockOptions.defaults().withTtl(TTL))
                    .requestTimeout(Duration.ofSeconds(2))
                    .closeTimeout(Duration.ofMillis(500))
                    .connect();
        }

        void admin(String... statements) {
            try (Connection connection = DriverManager.getConnection(url(server))) {
                run(connection, statements);
            } catch (java.sql.SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        void run(Connection connection, String... statements) throws java.sql.SQLException {
            for (String sql : statements) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute(sql);
                }
            }
        }

        @Test
        void aLeaseOutlivesARestartOfTheServer() throws Exception {
            try (Holdfast client = client();
                    Lease lease = client.lock("restart", LockOptions.defaults().withTtl(Duration.ofSeconds(60)))
                            .acquire()) {
                server.kill();
                assertThatThrownBy(() -> client.lock("other").tryAcquire()).isInstanceOf(LockException.class);
                assertThat(lease.isValid()).isTrue();
                server.restart();

                assertThat(eventually(client, "other")).isPresent();
                try (Holdfast second = client()) {
                    assertThat(second.lock("restart").tryAcquire()).isEmpty();
                }
                long token = lease.token();
                assertThat(lease.release()).isIn(ReleaseResult.RELEASED, ReleaseResult.PENDING);
                assertThat(eventually(client, "restart").orElseThrow().token()).isGreaterThan(token);
            }
        }

        @Test
        void aHolderIsToldWhenTheServerStaysAway() throws Exception {
            try (Holdfast client = client()) {
                Lease lease = client.lock("away").acquire();
                CompletableFuture<String> lost = new CompletableFuture<>();
                lease.onLost(loss -> lost.complete(loss.detail()));
                server.kill();

                lost.get(SOON.toSeconds(), TimeUnit.SECONDS);

                assertThat(lease.isValid()).isFalse();
            }
        }

        @Test
        void requestsAndRenewalsGoOnAfterTheServerKilledAllConnections() throws Exception {
            LockOptions lasting = LockOptions.defaults().withTtl(Duration.ofSeconds(15));
            try (Holdfast client = client();
                    Lease lease = client.lock("killed", lasting).acquire()) {
                for (int i = 0; i < 3; i++) {
                    killAllOthers();
                    assertThat(eventually(client, "another")).isPresent().get().satisfies(Lease::release);
                }
                long expiresAt = expiresAt("killed");
                await().atMost(SOON).until(() -> expiresAt("killed") > expiresAt);
                assertThat(lease.isValid()).isTrue();
            }
        }

        private long expiresAt(String name) throws java.sql.SQLException {
            try (Connection connection = DriverManager.getConnection(url(server));
                    Statement statement = connection.createStatement();
                    var rows = statement.executeQuery(
                            "SELECT expires_at FROM holdfast_lock WHERE name = '" + name + "'")) {
                rows.next();
                return rows.getLong(1);
            }
        }

        private void killAllOthers() throws java.sql.SQLException {
            try (Connection connection = DriverManager.getConnection(url(server));
                    Statement statement = connection.createStatement();
                    var rows = statement.executeQuery(killOthers())) {
                while (rows.next()) {
                    if (rows.getMetaData().getColumnName(1).equalsIgnoreCase("id")) {
                        try {
                            run(connection, "KILL " + rows.getLong(1));
                        } catch (java.sql.SQLException e) {
                            // It has ended by itself meanwhile.
                        }
                    }
                }
            }
        }

        @Test
        void aHungServerDoesNotHoldCallersBeyondTheirDeadline() throws Exception {
            try (Holdfast client = client()) {
                client.lock("warm").acquire().release();
                server.pause();
                long start = System.nanoTime();
                try {
                    assertThatThrownBy(() -> client.lock("hung").tryAcquire(Duration.ofSeconds(2)))
                            .isInstanceOf(LockException.class);
                } finally {
                    server.resume();
                }

                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SOON);
                assertThat(eventually(client, "hung")).isPresent();
            }
        }

        @Test
        void aReadOnlyServerIsNamedAsSuch() throws Exception {
            try (Holdfast first = client()) {
                first.lock("writable").acquire().release();
            }
            readOnly(true);
            try (Holdfast client = client(plainUserUrl())) {
                await().atMost(SOON)
                        .untilAsserted(() -> assertThatThrownBy(
                                        () -> client.lock("writable").tryAcquire())
                                .isInstanceOf(StoreUnavailableException.class)
                                .hasMessageContaining("read-only"));
            } finally {
                readOnly(false);
            }
            try (Holdfast client = client(plainUserUrl())) {
                assertThat(eventually(client, "writable")).isPresent();
            }
        }

        /** It may have been demoted and have kept its connections: a new one may lead to the primary. */
        @Test
        void noConnectionToAReadOnlyServerIsKept() throws Exception {
            try (Holdfast first = client()) {
                first.lock("demoted").acquire().release();
            }
            readOnly(false);
            try (Holdfast client = client(demotedUrl());
                    Connection admin = DriverManager.getConnection(url(server))) {
                Set<Long> before = useSeveralConnections(client, admin);
                readOnly(true);

                await().atMost(SOON)
                        .untilAsserted(() -> assertThatThrownBy(
                                        () -> client.lock("demoted").tryAcquire())
                                .hasMessageContaining("read-only"));

                // Sooner than the pool closes what is idle: in half a minute at the earliest.
                await().atMost(SOON.dividedBy(2))
                        .untilAsserted(() -> assertThat(sessions(admin)).doesNotContainAnyElementsOf(before));
            } finally {
                readOnly(false);
            }
        }

        /** Else all who use the pool connect anew at the same moment, just when the server is slow. */
        @Test
        void aStatementThatHangsCostsFewOtherConnections() throws Exception {
            readOnly(false);
            try (Holdfast first = client()) {
                first.lock("hanging").acquire().release();
            }
            try (Holdfast client = client(demotedUrl());
                    Connection admin = DriverManager.getConnection(url(server))) {
                Set<Long> before = useSeveralConnections(client, admin);
                try (Connection locking = DriverManager.getConnection(url(server))) {
                    run(locking, lockTable());
                    assertThatThrownBy(() -> client.lock("hanging").tryAcquire(Duration.ofSeconds(2)))
                            .isInstanceOf(LockException.class);
                }
                assertThat(eventually(client, "hanging")).isPresent();

                // Its own, and that of the request by which it was taken back.
                assertThat(sessions(admin)).filteredOn(before::contains).hasSizeGreaterThanOrEqualTo(before.size() - 2);
            }
        }

        /** Has requests wait for rows, each on a connection of its own, and returns the client's sessions. */
        private Set<Long> useSeveralConnections(Holdfast client, Connection admin) throws Exception {
            List<String> names = List.of("demoted-1", "demoted-2", "demoted-3");
            for (String name : names) {
                client.lock(name).acquire().release();
            }
            admin.setAutoCommit(false);
            run(admin, "SELECT name FROM holdfast_lock WHERE name LIKE 'demoted-%' FOR UPDATE");
            List<CompletableFuture<Lease>> waiting =
                    names.stream().map(name -> client.lock(name).acquireAsync()).toList();
            await().atMost(SOON).until(() -> sessions(admin).size() >= names.size());
            admin.rollback();
            admin.setAutoCommit(true);
            for (CompletableFuture<Lease> each : waiting) {
                each.get(SOON.toSeconds(), TimeUnit.SECONDS).release();
            }
            return sessions(admin);
        }

        /** Those of the client whose server is demoted. */
        private Set<Long> sessions(Connection admin) throws java.sql.SQLException {
            Set<Long> ids = new HashSet<>();
            try (var statement = admin.createStatement();
                    var rows = statement.executeQuery(sessionsOfDemoted())) {
                while (rows.next()) {
                    ids.add(rows.getLong(1));
                }
            }
            return ids;
        }

        @Test
        void aTableLockedByAnAdministratorDelaysAndThenLetsGoOn() throws Exception {
            try (Holdfast client = client();
                    Connection admin = DriverManager.getConnection(url(server))) {
                client.lock("table").acquire().release();
                run(admin, lockTable());

                assertThatThrownBy(() -> client.lock("table").tryAcquire(Duration.ofSeconds(2)))
                        .isInstanceOf(LockException.class);

                admin.close();
                Optional<Lease> lease = eventually(client, "table");
                assertThat(lease).isPresent();
                lease.get().release();
                await().atMost(SOON).until(() -> !client.lock("table").inspect().isHeld());
            }
        }

        /** As soon as the server answers again. What was left by requests without an answer goes within a ttl. */
        private static Optional<Lease> eventually(Holdfast client, String name) {
            return await().atMost(SOON)
                    .ignoreExceptionsInstanceOf(LockException.class)
                    .until(() -> client.lock(name).tryAcquire(), Optional::isPresent);
        }
    }
}
