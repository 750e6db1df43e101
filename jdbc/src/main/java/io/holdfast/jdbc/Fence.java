package io.holdfast.jdbc;

import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Refuses holders whose time is over, inside the transaction that does the work.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * Fence.check(connection, "stock/sku-42", lease.token());   // before the first read
 * int left = readStock(connection);
 * writeStock(connection, left - 1);
 * connection.commit();
 * }</pre>
 *
 * <p>The newest token of each resource stands in a row that stays locked until the transaction ends, so checks of one
 * resource happen one after another and what they guard does too. Check before reading: an old holder that writes between a
 * new holder's read and its write would otherwise go unnoticed, and at REPEATABLE READ an earlier read fixes what later ones
 * see. On PostgreSQL at REPEATABLE READ a check that had to wait fails with 40001: start the transaction over. Rows are never
 * removed. Thread-safe.
 */
public final class Fence {

    private static final TableName STANDARD_TABLE = new TableName("holdfast_fence");

    private Fence() {}

    /**
     * Lets the transaction go on if no newer token was seen for the resource, and remembers this one.
     *
     * @throws StaleTokenException if a newer one was seen: roll back
     * @throws IllegalStateException if the connection is in autocommit mode, in which a check guards nothing
     */
    public static void check(Connection transaction, String resource, long token) throws SQLException {
        check(transaction, STANDARD_TABLE, resource, token);
    }

    /** The same with a table of another name. */
    public static void check(Connection transaction, String table, String resource, long token) throws SQLException {
        check(transaction, new TableName(table), resource, token);
    }

    private static void check(Connection transaction, TableName table, String resource, long token)
            throws SQLException {
        Transactions.require(transaction, "a fence");
        Dialect dialect = Dialect.forRecipes(transaction);
        long newest = dialect == Dialect.MYSQL
                ? raiseOnMySql(transaction, table, dialect.bindable(resource), token)
                : raiseOnPostgres(transaction, table, resource, token);
        if (newest > token) {
            throw new StaleTokenException(resource, token, newest);
        }
    }

    private static long raiseOnPostgres(Connection transaction, TableName table, String resource, long token)
            throws SQLException {
        String sql =
                "INSERT INTO " + table + " AS fence (resource, token) VALUES (?, ?) ON CONFLICT (resource) DO UPDATE"
                        + " SET token = GREATEST(fence.token, excluded.token) RETURNING token";
        try (PreparedStatement statement = transaction.prepareStatement(sql)) {
            statement.setString(1, resource);
            statement.setLong(2, token);
            return readToken(statement);
        }
    }

    /** Both statements lock the row and read its newest state, whatever snapshot the transaction has. */
    private static long raiseOnMySql(Connection transaction, TableName table, Object resource, long token)
            throws SQLException {
        String raise = "INSERT INTO " + table + " (resource, token) VALUES (?, ?)"
                + " ON DUPLICATE KEY UPDATE token = GREATEST(token, ?)";
        try (PreparedStatement statement = transaction.prepareStatement(raise)) {
            statement.setObject(1, resource);
            statement.setLong(2, token);
            statement.setLong(3, token);
            statement.executeUpdate();
        }
        String read = "SELECT token FROM " + table + " WHERE resource = ? FOR UPDATE";
        try (PreparedStatement statement = transaction.prepareStatement(read)) {
            statement.setObject(1, resource);
            return readToken(statement);
        }
    }

    private static long readToken(PreparedStatement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** A newer holder has been here: what this one knows is out of date. */
    public static final class StaleTokenException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final String resource;
        private final long token;
        private final long newest;

        StaleTokenException(String resource, long token, long newest) {
            super("Token " + token + " is stale for '" + resource + "', which has seen " + newest
                    + ": the lease was lost and somebody else works on it. Roll back.");
            this.resource = resource;
            this.token = token;
            this.newest = newest;
        }

        public String resource() {
            return resource;
        }

        public long token() {
            return token;
        }

        /** The newest token seen. */
        public long newest() {
            return newest;
        }
    }
}
