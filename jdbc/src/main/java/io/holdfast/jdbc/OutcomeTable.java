package io.holdfast.jdbc;

import io.holdfast.jdbc.connection.Session;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.SqlFailure;
import io.holdfast.jdbc.dialect.TableName;
import io.holdfast.jdbc.row.LockSql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
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
        return alone((connection, dialect) -> query(
                        connection,
                        dialect,
                        "SELECT fingerprint, state, outcome FROM {table} WHERE request = ? AND expires_at > {now}",
                        OutcomeTable::read,
                        dialect.bindable(key)))
                .stream()
                .findFirst();
    }

    private static Outcome read(ResultSet row) throws SQLException {
        return new Outcome(row.getString(1), State.valueOf(row.getString(2).toUpperCase(Locale.ROOT)), row.getBytes(3));
    }

    /** Starts a run, over whatever an older one left; false if a newer one was here. */
    boolean claim(String key, String fingerprint, long token, Duration remembered) throws SQLException {
        long time = LockSql.micros(remembered);
        return alone((connection, dialect) -> {
            Object request = dialect.bindable(key);
            String takeOver = """
                    UPDATE {table} SET fingerprint = ?, state = 'running', token = ?, outcome = NULL, expires_at = {now} + ?
                    WHERE request = ? AND token < ? AND (state = 'running' OR expires_at <= {now})""";
            String begin = dialect.insertUnlessThere("""
                    INSERT INTO {table} (request, fingerprint, state, token, expires_at)
                    VALUES (?, ?, 'running', ?, {now} + ?)""");
            return update(connection, dialect, takeOver, fingerprint, token, time, request, token) == 1
                    || update(connection, dialect, begin, request, fingerprint, token, time) == 1;
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
                worthwhile, (connection, dialect) -> settleIn(connection, key, token, state, bytes, remembered));
    }

    /** The same inside a transaction of the caller's. */
    boolean settleIn(
            Connection connection, String key, long token, State state, byte @Nullable [] bytes, Duration remembered)
            throws SQLException {
        Dialect dialect = Dialect.forRecipes(connection);
        // The same state again: this run's own record, whose confirmation was lost.
        String sql = """
                UPDATE {table} SET state = ?, outcome = ?, expires_at = {now} + ?
                WHERE request = ? AND token = ? AND state IN ('running', ?)""";
        long time = LockSql.micros(remembered);
        return update(connection, dialect, sql, state.text, bytes, time, dialect.bindable(key), token, state.text) == 1;
    }

    /** As if the run had never been. */
    void forget(String key, long token) throws SQLException {
        String sql = "DELETE FROM {table} WHERE request = ? AND token = ? AND state = 'running'";
        alone((connection, dialect) -> update(connection, dialect, sql, dialect.bindable(key), token));
    }

    /** Removes outcomes whose time is over. Returns how many. */
    int pruneSettled() throws SQLException {
        String sql = "DELETE FROM {table} WHERE expires_at <= {now} AND state <> 'running'";
        return alone((connection, dialect) -> update(connection, dialect, sql));
    }

    /** The keys of runs whose time is over: left by the dead, or still at work. */
    List<String> overdue() throws SQLException {
        String sql = "SELECT request FROM {table} WHERE expires_at <= {now} AND state = 'running'";
        return alone((connection, dialect) -> query(connection, dialect, sql, row -> dialect.readName(row, 1)));
    }

    /** Removes an overdue run that is older than the token. Returns how many there were. */
    int pruneOverdue(String key, long token) throws SQLException {
        String sql =
                "DELETE FROM {table} WHERE request = ? AND token < ? AND expires_at <= {now} AND state = 'running'";
        return alone((connection, dialect) -> update(connection, dialect, sql, dialect.bindable(key), token));
    }

    private int update(Connection connection, Dialect dialect, String sql, @Nullable Object... values)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text(dialect, sql))) {
            Session.bind(statement, values);
            return statement.executeUpdate();
        }
    }

    private <T> List<T> query(
            Connection connection, Dialect dialect, String sql, Session.Reader<T> reader, Object... values)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text(dialect, sql))) {
            Session.bind(statement, values);
            return Session.read(statement, reader);
        }
    }

    private interface Statements<T> {
        T run(Connection connection, Dialect dialect) throws SQLException;
    }

    private <T> T alone(Statements<T> statements) throws SQLException {
        return persistently(() -> false, statements);
    }

    /**
     * Also on another connection when one breaks, as long as that is worthwhile: for statements that may be carried out twice. A
     * server that is gone is waited for; one that breaks every connection, as over a result too large for it, is not.
     */
    private <T> T persistently(BooleanSupplier worthwhile, Statements<T> statements) throws SQLException {
        AtomicInteger sent = new AtomicInteger();
        for (int tries = 1; ; tries++) {
            try {
                return Transactions.runAlone(dataSource, connection -> {
                    sent.incrementAndGet();
                    return statements.run(connection, Dialect.forRecipes(connection));
                });
            } catch (SQLException e) {
                SqlFailure failure = SqlFailure.of(e);
                boolean again = failure == SqlFailure.RETRY
                        ? tries < TRIES
                        : failure == SqlFailure.DISCONNECTED
                                && sent.get() < TRIES
                                && !Thread.currentThread().isInterrupted()
                                && worthwhile.getAsBoolean();
                if (!again) {
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
