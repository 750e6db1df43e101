package io.holdfast.jdbc;

import io.holdfast.jdbc.dialect.SqlFailure;
import io.holdfast.jdbc.dialect.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.NoSuchElementException;
import javax.sql.DataSource;

/**
 * Lets a change through only if nobody else changed the row since it was read: optimistic, by a version column of the user's
 * own table.
 *
 * <pre>{@code
 * VersionGuard guard = VersionGuard.of("stock", "sku", "version");
 * int left = guard.retrying(dataSource, "sku-42", 10, connection -> {
 *     int stock = readStock(connection, "sku-42");
 *     writeStock(connection, "sku-42", stock - 1);
 *     return stock - 1;
 * });
 * }</pre>
 *
 * <p>Good where conflicts are rare; where many want the same row, a lock wastes less work. Immutable.
 */
public final class VersionGuard {

    private final String table;
    private final String readVersion;
    private final String advanceVersion;

    private VersionGuard(TableName table, TableName key, TableName version) {
        this.table = table.text();
        this.readVersion = "SELECT " + version + " FROM " + table + " WHERE " + key + " = ?";
        this.advanceVersion = "UPDATE " + table + " SET " + version + " = " + version + " + 1 WHERE " + key
                + " = ? AND " + version + " = ?";
    }

    /**
     * @param table whose rows are guarded
     * @param keyColumn finds one row
     * @param versionColumn a whole number that only ever grows
     */
    public static VersionGuard of(String table, String keyColumn, String versionColumn) {
        return new VersionGuard(new TableName(table), new TableName(keyColumn), new TableName(versionColumn));
    }

    /** The row's version now: read it before the data it stands for. */
    public long version(Connection transaction, Object key) throws SQLException {
        try (PreparedStatement statement = transaction.prepareStatement(readVersion)) {
            statement.setObject(1, key);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new NoSuchElementException("table " + table + " has no row '" + key + "'");
                }
                return row.getLong(1);
            }
        }
    }

    /**
     * Moves the version on, in the transaction that changes the data.
     *
     * @throws VersionConflictException if the row has another version than was seen: roll back and read again
     */
    public void advance(Connection transaction, Object key, long seen) throws SQLException {
        Transactions.require(transaction, "a version guard");
        try (PreparedStatement statement = transaction.prepareStatement(advanceVersion)) {
            statement.setObject(1, key);
            statement.setLong(2, seen);
            if (statement.executeUpdate() != 1) {
                throw new VersionConflictException(table, key, 1);
            }
        }
    }

    /** What reads and changes the row, in a transaction it neither commits nor rolls back. */
    @FunctionalInterface
    public interface Change<T, X extends Exception> {
        T apply(Connection transaction) throws SQLException, X;
    }

    /**
     * Runs the change in a transaction of its own, again from the start whenever somebody else was faster.
     *
     * @param dataSource a plain one, not one that hands out the connection of the caller's transaction
     * @param tries how often at most
     * @throws VersionConflictException if somebody else was faster every time; nothing was changed
     */
    public <T, X extends Exception> T retrying(DataSource dataSource, Object key, int tries, Change<T, X> change)
            throws SQLException, X, InterruptedException {
        if (tries < 1) {
            throw new IllegalArgumentException("the number of tries must be at least 1, not " + tries);
        }
        Transactions.requireOwn(dataSource);
        for (int tried = 1; ; tried++) {
            try {
                return Transactions.<T, X>run(dataSource, connection -> {
                    long seen = version(connection, key);
                    T result = change.apply(connection);
                    advance(connection, key, seen);
                    return result;
                });
            } catch (VersionConflictException e) {
                if (tried >= tries) {
                    throw new VersionConflictException(table, key, tries);
                }
            } catch (SQLException e) {
                if (SqlFailure.of(e) != SqlFailure.RETRY) {
                    throw e;
                }
                if (tried >= tries) {
                    throw new VersionConflictException(table, key, tries, e);
                }
            }
            Transactions.pauseAfterConflict(tried);
        }
    }

    /** Somebody else changed the row in between. */
    public static final class VersionConflictException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final int tries;

        VersionConflictException(String table, Object key, int tries) {
            this(table, key, tries, null);
        }

        VersionConflictException(
                String table, Object key, int tries, @org.jspecify.annotations.Nullable Throwable cause) {
            super(
                    "Row '" + key + "' of table " + table + " was changed by somebody else"
                            + (tries > 1 ? " at each of " + tries + " tries" : "")
                            + ". Nothing was changed here; read it again and retry.",
                    cause);
            this.tries = tries;
        }

        /** How often it was tried. */
        public int tries() {
            return tries;
        }
    }
}
