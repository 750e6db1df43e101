package io.holdfast.bench.compare.arena;

import io.holdfast.bench.Contender;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Locks in plain SQL, a connection for every thread. Settings: {@code url}, {@code way}:
 *
 * <ul>
 *   <li>{@code floor}: a conditional UPDATE to take, an UPDATE to give back
 *   <li>{@code session}: GET_LOCK or an advisory lock
 *   <li>{@code textbook}: INSERT of a unique key, DELETE; asked again after 5 to 10 ms
 * </ul>
 *
 * Thread-safe.
 */
public final class SqlLock implements Contender {

    private final String url;
    private final String way;

    private SqlLock(String url, String way) {
        this.url = url;
        this.way = way;
    }

    /** Makes the table. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) throws SQLException {
            try (Connection connection = DriverManager.getConnection(settings.get("url"));
                    Statement statement = connection.createStatement()) {
                statement.execute(
                        "CREATE TABLE IF NOT EXISTS bench_lock (name VARCHAR(100) NOT NULL PRIMARY KEY,"
                                + " owner VARCHAR(64) NULL, token BIGINT NOT NULL DEFAULT 0, expires_at BIGINT NOT NULL DEFAULT 0)");
            } catch (SQLException madeByAnother) {
                // Several JVMs may try at once.
            }
            return new SqlLock(settings.get("url"), settings.get("way"));
        }
    }

    @Override
    public Mutex mutex(String name) {
        try {
            Connection connection = DriverManager.getConnection(url);
            return switch (way) {
                case "session" -> new SessionLock(connection, name, url.contains("postgresql"));
                case "textbook" -> new Textbook(connection, name);
                default -> new Updates(connection, name);
            };
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {}

    private static final class Updates implements Mutex {

        private static final long TTL_MICROS = TTL.toMillis() * 1000;

        private final Connection connection;
        private final PreparedStatement take;
        private final PreparedStatement giveBack;

        Updates(Connection connection, String name) throws SQLException {
            this.connection = connection;
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO bench_lock (name) VALUES (?)")) {
                insert.setString(1, name);
                insert.executeUpdate();
            } catch (SQLException thereAlready) {
                // Another thread's.
            }
            String now = connection.getMetaData().getURL().contains("postgresql")
                    ? "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
                    : "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
            take = connection.prepareStatement("UPDATE bench_lock SET owner = ?, token = token + 1, expires_at = " + now
                    + " + " + TTL_MICROS + " WHERE name = ? AND expires_at <= " + now);
            take.setString(1, Thread.currentThread().getName());
            take.setString(2, name);
            giveBack = connection.prepareStatement(
                    "UPDATE bench_lock SET owner = NULL, expires_at = 0 WHERE name = ? AND owner = ?");
            giveBack.setString(1, name);
            giveBack.setString(2, Thread.currentThread().getName());
        }

        @Override
        public Held acquire() throws SQLException {
            while (take.executeUpdate() == 0) {
                Thread.onSpinWait();
            }
            return giveBack::executeUpdate;
        }

        @Override
        public void close() throws SQLException {
            connection.close();
        }
    }

    private static final class SessionLock implements Mutex {

        private final Connection connection;
        private final PreparedStatement lock;
        private final PreparedStatement unlock;

        SessionLock(Connection connection, String name, boolean postgres) throws SQLException {
            this.connection = connection;
            lock = connection.prepareStatement(
                    postgres ? "SELECT pg_advisory_lock(hashtextextended(?, 0))" : "SELECT GET_LOCK(?, 3600)");
            unlock = connection.prepareStatement(
                    postgres ? "SELECT pg_advisory_unlock(hashtextextended(?, 0))" : "SELECT RELEASE_LOCK(?)");
            lock.setString(1, name);
            unlock.setString(1, name);
        }

        @Override
        public Held acquire() throws SQLException {
            lock.executeQuery().close();
            return () -> unlock.executeQuery().close();
        }

        @Override
        public void close() throws SQLException {
            connection.close();
        }
    }

    private static final class Textbook implements Mutex {

        private final Connection connection;
        private final PreparedStatement insert;
        private final PreparedStatement delete;

        Textbook(Connection connection, String name) throws SQLException {
            this.connection = connection;
            insert = connection.prepareStatement("INSERT INTO bench_lock (name) VALUES (?)");
            delete = connection.prepareStatement("DELETE FROM bench_lock WHERE name = ?");
            insert.setString(1, name);
            delete.setString(1, name);
        }

        @Override
        public Held acquire() throws SQLException, InterruptedException {
            while (!hasInserted()) {
                TimeUnit.MICROSECONDS.sleep(5000 + ThreadLocalRandom.current().nextInt(5000));
            }
            return this::delete;
        }

        private boolean hasInserted() throws SQLException {
            try {
                insert.executeUpdate();
                return true;
            } catch (SQLIntegrityConstraintViolationException taken) {
                return false;
            } catch (SQLException e) {
                if (isDeadlock(e)) {
                    return false;
                }
                throw e;
            }
        }

        private void delete() throws SQLException {
            while (true) {
                try {
                    delete.executeUpdate();
                    return;
                } catch (SQLException e) {
                    if (!isDeadlock(e)) {
                        throw e;
                    }
                }
            }
        }

        /** Which this recipe runs into all the time. */
        private static boolean isDeadlock(SQLException e) {
            return "40001".equals(e.getSQLState());
        }

        @Override
        public void close() throws SQLException {
            connection.close();
        }
    }
}
