package io.holdfast.jdbc.connection;

import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.spi.Deadline;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A borrowed connection whose statements are over at the deadline. Used by one thread. */
public final class Session implements AutoCloseable {

    /** Reads one row. */
    @FunctionalInterface
    public interface Reader<T> {
        T read(ResultSet row) throws SQLException;
    }

    private final Connection connection;
    private final Deadline deadline;
    private final Runnable giveBack;
    private boolean uncertain;
    private boolean inTransaction;

    /** @param giveBack ends the loan */
    Session(Connection connection, Deadline deadline, Runnable giveBack) {
        this.connection = connection;
        this.deadline = deadline;
        this.giveBack = giveBack;
    }

    /** Whether a change was sent that takes effect whether or not we hear of it. */
    public boolean isUncertain() {
        return uncertain;
    }

    public Deadline deadline() {
        return deadline;
    }

    public Connection connection() {
        return connection;
    }

    /** Starts a transaction, for a server that cannot do it in one statement; ends with {@link #commit} or undone. */
    public void begin() throws SQLException {
        limitTime();
        connection.setAutoCommit(false);
        inTransaction = true;
    }

    public void commit() throws SQLException {
        limitTime();
        uncertain = true;
        connection.commit();
        uncertain = false;
        inTransaction = false;
        connection.setAutoCommit(true);
    }

    /** Returns how many rows matched. Every UPDATE of ours changes what it matches, so drivers cannot disagree. */
    public int update(String sql, Object... values) throws SQLException {
        int count;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, values);
            beforeChange();
            count = statement.executeUpdate();
        }
        afterChange();
        return count;
    }

    /**
     * A change of one row that tells a number: an INSERT the one the server gave the row, an UPDATE what it names by
     * {@code LAST_INSERT_ID(…)}. Empty if it changed nothing.
     *
     * @param column the one with the number
     */
    public Optional<Long> updateReturningKey(String sql, String column, Object... values) throws SQLException {
        Optional<Long> key = Optional.empty();
        try (PreparedStatement statement = connection.prepareStatement(sql, new String[] {column})) {
            bind(statement, values);
            beforeChange();
            if (statement.executeUpdate() > 0) {
                try (ResultSet keys = statement.getGeneratedKeys()) {
                    key = Optional.of(keys.next() ? keys.getLong(1) : lastInsertId());
                }
            }
        }
        afterChange();
        return key;
    }

    /** For drivers that do not pass it on. */
    private long lastInsertId() throws SQLException {
        return query("SELECT LAST_INSERT_ID()", row -> row.getLong(1)).get(0);
    }

    /** A change that mints a token, whose text is made by {@link Dialect#returningToken}. Empty if it changed nothing. */
    public Optional<Long> updateReturningToken(Dialect dialect, String sql, Object... values) throws SQLException {
        return dialect == Dialect.MYSQL
                ? updateReturningKey(sql, "token", values)
                : updateReturning(sql, row -> row.getLong(1), values).stream().findFirst();
    }

    /** A change that returns rows, as with RETURNING. */
    public <T> List<T> updateReturning(String sql, Reader<T> reader, Object... values) throws SQLException {
        beforeChange();
        List<T> rows = query(sql, reader, values);
        afterChange();
        return rows;
    }

    public <T> List<T> query(String sql, Reader<T> reader, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, values);
            limitTime();
            return read(statement, reader);
        }
    }

    /** Runs a query and reads all its rows. */
    public static <T> List<T> read(PreparedStatement statement, Reader<T> reader) throws SQLException {
        try (ResultSet rows = statement.executeQuery()) {
            List<T> read = new ArrayList<>();
            while (rows.next()) {
                read.add(reader.read(rows));
            }
            return read;
        }
    }

    /** Runs what has neither values nor results, such as DDL. */
    public void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            limitTime();
            statement.execute(sql);
        }
    }

    /** Undoes what a failed try has begun; what the server has rolled back itself is forgotten. */
    public void startOver() {
        uncertain = false;
        try {
            if (inTransaction) {
                inTransaction = false;
                connection.rollback();
                connection.setAutoCommit(true);
            }
        } catch (SQLException | RuntimeException e) {
            // A broken connection: the server rolls back by itself, the pool throws it away.
        }
    }

    @Override
    public void close() {
        try {
            startOver();
        } finally {
            giveBack.run();
        }
    }

    private void beforeChange() throws SQLException {
        limitTime();
        uncertain = !inTransaction;
    }

    private void afterChange() {
        uncertain = false;
    }

    /** Makes the socket give up at the deadline: it works in every driver and needs no second connection to cancel. */
    private void limitTime() throws SQLException {
        long left = deadline.remainingNanos();
        if (left <= 0) {
            throw new SQLTransientException("no time was left");
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(left) + 1;
        connection.setNetworkTimeout(Runnable::run, (int) Math.min(millis, Integer.MAX_VALUE));
    }

    public static void bind(PreparedStatement statement, @Nullable Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            Object value = values[i];
            if (value instanceof byte[] bytes) {
                statement.setBytes(i + 1, bytes);
            } else if (value instanceof Long number) {
                statement.setLong(i + 1, number);
            } else if (value instanceof Integer number) {
                statement.setInt(i + 1, number);
            } else if (value == null) {
                statement.setNull(i + 1, Types.NULL);
            } else {
                statement.setString(i + 1, (String) value);
            }
        }
    }
}
