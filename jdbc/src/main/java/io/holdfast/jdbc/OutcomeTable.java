package io.holdfast.jdbc;

import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.SqlFailure;
import io.holdfast.jdbc.dialect.TableName;
import io.holdfast.jdbc.row.LockSql;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The statements of {@link JdbcIdempotency}. Each stands for itself and may be repeated. Thread-safe. */
final class OutcomeTable {

    /** How far a key has come. */
    enum State {
        RUNNING,
        DONE,
        FAILED;

        final String text = name().toLowerCase(Locale.ROOT);
    }

    /**
     * What is recorded of a key and has not been forgotten.
     *
     * @param bytes null of a null result
     */
    record Outcome(String fingerprint, State state, byte @Nullable [] bytes) {}

    /** How often a statement is tried that the server rolls back, or that breaks its connection. */
    private static final int TRIES = 10;

    private static final long RETRY_PAUSE_NANOS = Duration.ofMillis(2).toNanos();
    private static final long LONGEST_PAUSE_NANOS = Duration.ofMillis(200).toNanos();

    private final DataSource dataSource;
    private final TableName table;

    OutcomeTable(DataSource dataSource, TableName table) {
        this.dataSource = dataSource;
        this.table = table;
    }

    Optional<Outcome> find(String key) throws SQLException {
        return alone((connection, dialect) -> {
            String sql = text(
                    dialect,
                    "SELECT fingerprint, state, outcome FROM {table} WHERE request = ?" + " AND expires_at > {now}");
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setObject(1, dialect.bindable(key));
                try (ResultSet row = statement.executeQuery()) {
                    return row.next() ? Optional.of(read(row)) : Optional.empty();
                }
            }
        });
    }

    private static Outcome read(ResultSet row) throws SQLException {
        return new Outcome(row.getString(1), State.valueOf(row.getString(2).toUpperCase(Locale.ROOT)), row.getBytes(3));
    }

    /** Starts a run, over whatever an older one left; false if a newer one was here. */
    boolean claim(String key, String fingerprint, long token, Duration remembered) throws SQLException {
        return alone((connection, dialect) -> {
            String takeOver = text(
                    dialect,
                    "UPDATE {table} SET fingerprint = ?, state = 'running', token = ?, outcome = NULL,"
                            + " expires_at = {now} + ? WHERE request = ? AND token < ?"
                            + " AND (state = 'running' OR expires_at <= {now})");
            try (PreparedStatement statement = connection.prepareStatement(takeOver)) {
                statement.setString(1, fingerprint);
                statement.setLong(2, token);
                statement.setLong(3, LockSql.micros(remembered));
                statement.setObject(4, dialect.bindable(key));
                statement.setLong(5, token);
                if (statement.executeUpdate() == 1) {
                    return true;
                }
            }
            String begin = dialect.insertUnlessThere(text(
                    dialect,
                    "INSERT INTO {table} (request, fingerprint, state, token,"
                            + " expires_at) VALUES (?, ?, 'running', ?, {now} + ?)"));
            try (PreparedStatement statement = connection.prepareStatement(begin)) {
                statement.setObject(1, dialect.bindable(key));
                statement.setString(2, fingerprint);
                statement.setLong(3, token);
                statement.setLong(4, LockSql.micros(remembered));
                return statement.executeUpdate() == 1;
            }
        });
    }

    /**
     * Records what came of a run; false if a newer one has begun.
     *
     * @param worthwhile whether to go on trying when the server cannot be reached
     */
    boolean settle(
            String key,
            long token,
            State state,
            byte @Nullable [] bytes,
            Duration remembered,
            BooleanSupplier worthwhile)
            throws SQLException {
        return persistently(
                worthwhile, (connection, dialect) -> settle(connection, dialect, key, token, state, bytes, remembered));
    }

    /** The same inside a transaction of the caller's. */
    boolean settleIn(
            Connection transaction, String key, long token, State state, byte @Nullable [] bytes, Duration remembered)
            throws SQLException {
        return settle(transaction, Dialect.forRecipes(transaction), key, token, state, bytes, remembered);
    }

    private boolean settle(
            Connection connection,
            Dialect dialect,
            String key,
            long token,
            State state,
            byte @Nullable [] bytes,
            Duration remembered)
            throws SQLException {
        // The same state again: this run's own record, whose confirmation was lost.
        String sql = text(
                dialect,
                "UPDATE {table} SET state = ?, outcome = ?, expires_at = {now} + ?"
                        + " WHERE request = ? AND token = ? AND state IN ('running', ?)");
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, state.text);
            statement.setBytes(2, bytes);
            statement.setLong(3, LockSql.micros(remembered));
            statement.setObject(4, dialect.bindable(key));
            statement.setLong(5, token);
            statement.setString(6, state.text);
            return statement.executeUpdate() == 1;
        }
    }

    /** As if the run had never been. */
    void forget(String key, long token) throws SQLException {
        alone((connection, dialect) -> {
            String sql = text(dialect, "DELETE FROM {table} WHERE request = ? AND token = ? AND state = 'running'");
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setObject(1, dialect.bindable(key));
                statement.setLong(2, token);
                return statement.executeUpdate();
            }
        });
    }

    /** Removes outcomes whose time is over. Returns how many. */
    int pruneSettled() throws SQLException {
        return alone((connection, dialect) -> {
            String sql = text(dialect, "DELETE FROM {table} WHERE expires_at <= {now} AND state <> 'running'");
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                return statement.executeUpdate();
            }
        });
    }

    /** The keys of runs whose time is over: left by the dead, or still at work. */
    List<String> overdue() throws SQLException {
        return alone((connection, dialect) -> {
            String sql = text(dialect, "SELECT request FROM {table} WHERE expires_at <= {now} AND state = 'running'");
            try (PreparedStatement statement = connection.prepareStatement(sql);
                    ResultSet rows = statement.executeQuery()) {
                List<String> keys = new ArrayList<>();
                while (rows.next()) {
                    keys.add(new String(rows.getBytes(1), StandardCharsets.UTF_8));
                }
                return keys;
            }
        });
    }

    /** Removes an overdue run that is older than the token. Returns how many there were. */
    int pruneOverdue(String key, long token) throws SQLException {
        return alone((connection, dialect) -> {
            String sql = text(
                    dialect,
                    "DELETE FROM {table} WHERE request = ? AND token < ? AND expires_at <= {now}"
                            + " AND state = 'running'");
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setObject(1, dialect.bindable(key));
                statement.setLong(2, token);
                return statement.executeUpdate();
            }
        });
    }

    private interface Statements<T> {
        T run(Connection connection, Dialect dialect) throws SQLException;
    }

    private <T> T alone(Statements<T> statements) throws SQLException {
        for (int tries = 1; ; tries++) {
            try {
                return Transactions.runAlone(
                        dataSource, connection -> statements.run(connection, Dialect.forRecipes(connection)));
            } catch (SQLException e) {
                if (SqlFailure.of(e) != SqlFailure.RETRY || tries == TRIES) {
                    throw e;
                }
                LockSupport.parkNanos(tries * RETRY_PAUSE_NANOS);
            }
        }
    }

    /**
     * As {@link #alone}, and again on another connection when one breaks: for statements that may be carried out twice. A
     * server that is gone is waited for; one that breaks every connection, as over a result too large for it, is not.
     */
    private <T> T persistently(BooleanSupplier worthwhile, Statements<T> statements) throws SQLException {
        AtomicInteger sent = new AtomicInteger();
        for (int tries = 1; ; tries++) {
            try {
                return alone((connection, dialect) -> {
                    sent.incrementAndGet();
                    return statements.run(connection, dialect);
                });
            } catch (SQLException e) {
                if (SqlFailure.of(e) != SqlFailure.DISCONNECTED
                        || sent.get() >= TRIES
                        || Thread.currentThread().isInterrupted()
                        || !worthwhile.getAsBoolean()) {
                    throw e;
                }
                LockSupport.parkNanos(Math.min(tries * RETRY_PAUSE_NANOS, LONGEST_PAUSE_NANOS));
            }
        }
    }

    private String text(Dialect dialect, String template) {
        return template.replace("{table}", table.text()).replace("{now}", dialect.now());
    }
}
