package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/**
 * A lock that lasts as long as a transaction: pessimistic, for when lock and data are in one database.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * if (locks.tryLock(connection, "stock/sku-42", Duration.ofSeconds(2))) {   // first thing in the transaction
 *     deduct(connection, "sku-42");
 *     connection.commit();                                                   // and the lock is free
 * }
 * }</pre>
 *
 * <p>There is no lease to lose and no token to check: the database ends the lock with the transaction, also when the client
 * dies, as soon as it notices. Lock before the first read, else that read fixes what the transaction sees at REPEATABLE READ.
 * Taking two locks in different orders can deadlock, which the database ends with an error. Thread-safe.
 */
public final class TransactionLock {

    /*
     * The row must be there before it is locked. Locking a missing one at MySQL's REPEATABLE READ locks the gap it would be in,
     * which any number of transactions can do at once; then each waits for the others to insert it. So rows are added
     * beforehand, in autocommit, on a connection of their own, and are never removed. Nor is there a plain SELECT to see whether
     * the row exists: it would fix the caller's snapshot before the lock is there.
     *
     * On PostgreSQL the row is updated instead of just locked. At REPEATABLE READ the snapshot is older than the wait for the
     * lock, and only a changed row makes the server say so (40001) instead of showing stale data.
     */

    private static final TableName STANDARD_TABLE = new TableName("holdfast_mutex");
    private static final int KNOWN_NAMES = 10_000;
    private static final int MYSQL_LOCK_WAIT_TIMEOUT = 1205;
    private static final String POSTGRES_LOCK_TIMEOUT = "55P03";

    private final DataSource rows;
    private final TableName table;
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    private TransactionLock(DataSource rows, TableName table) {
        this.rows = rows;
        this.table = table;
    }

    /** @param rows where rows of new names are added: the same database, other connections than the transaction's */
    public static TransactionLock using(DataSource rows) {
        return new TransactionLock(rows, STANDARD_TABLE);
    }

    /** Instead of {@code holdfast_mutex}. */
    public TransactionLock withTable(String name) {
        return new TransactionLock(rows, new TableName(name));
    }

    /** Waits for the lock as long as the server lets it. */
    public void lock(Connection transaction, String name) throws SQLException {
        Transactions.require(transaction, "a transaction lock");
        Dialect dialect = Dialect.of(transaction);
        ensureRow(dialect, name);
        lockRow(transaction, dialect, name);
    }

    /**
     * Waits for the lock, but not longer than told (in whole seconds on MySQL, rounded up). False if others kept it; the
     * transaction can then go on without.
     */
    public boolean tryLock(Connection transaction, String name, Duration maxWait) throws SQLException {
        Transactions.require(transaction, "a transaction lock");
        Dialect dialect = Dialect.of(transaction);
        ensureRow(dialect, name);
        return dialect == Dialect.MYSQL
                ? tryOnMySql(transaction, name, maxWait)
                : tryOnPostgres(transaction, name, maxWait);
    }

    private boolean tryOnMySql(Connection transaction, String name, Duration maxWait) throws SQLException {
        long before = number(transaction, "SELECT @@SESSION.innodb_lock_wait_timeout");
        execute(transaction, "SET SESSION innodb_lock_wait_timeout = " + wholeSeconds(maxWait));
        try {
            lockRow(transaction, Dialect.MYSQL, name);
            return true;
        } catch (SQLException e) {
            if (e.getErrorCode() == MYSQL_LOCK_WAIT_TIMEOUT) {
                return false;
            }
            throw e;
        } finally {
            execute(transaction, "SET SESSION innodb_lock_wait_timeout = " + before);
        }
    }

    private static long wholeSeconds(Duration wait) {
        return Math.max(1, wait.plusMillis(999).toSeconds());
    }

    /** A timeout would spoil the transaction: the savepoint undoes it, and the setting with it. */
    private boolean tryOnPostgres(Connection transaction, String name, Duration maxWait) throws SQLException {
        Savepoint savepoint = transaction.setSavepoint();
        String before = setting(transaction, "SELECT current_setting('lock_timeout')");
        setLockTimeout(transaction, Math.max(1, maxWait.toMillis()) + "ms");
        try {
            lockRow(transaction, Dialect.POSTGRESQL, name);
        } catch (SQLException e) {
            if (POSTGRES_LOCK_TIMEOUT.equals(e.getSQLState())) {
                transaction.rollback(savepoint);
                return false;
            }
            throw e;
        }
        setLockTimeout(transaction, before);
        transaction.releaseSavepoint(savepoint);
        return true;
    }

    private void lockRow(Connection transaction, Dialect dialect, String name) throws SQLException {
        boolean found;
        if (dialect == Dialect.MYSQL) {
            String sql = "SELECT uses FROM " + table + " WHERE name = ? FOR UPDATE";
            try (PreparedStatement statement = transaction.prepareStatement(sql)) {
                statement.setObject(1, dialect.bindable(name));
                try (ResultSet row = statement.executeQuery()) {
                    found = row.next();
                }
            }
        } else {
            String sql = "UPDATE " + table + " SET uses = uses + 1 WHERE name = ?";
            try (PreparedStatement statement = transaction.prepareStatement(sql)) {
                statement.setString(1, name);
                found = statement.executeUpdate() == 1;
            }
        }
        if (!found) {
            known.remove(name);
            throw new SQLException("the row of '" + name + "' in " + table + " was deleted: roll back and try again");
        }
    }

    private void ensureRow(Dialect dialect, String name) throws SQLException {
        if (known.contains(name)) {
            return;
        }
        String insert = dialect.insertUnlessThere("INSERT INTO " + table + " (name, uses) VALUES (?, 0)");
        Transactions.runAlone(rows, connection -> {
            if (isThere(connection, dialect, name)) {
                return 0;
            }
            try (PreparedStatement statement = connection.prepareStatement(insert)) {
                statement.setObject(1, dialect.bindable(name));
                return statement.executeUpdate();
            }
        });
        if (known.size() < KNOWN_NAMES) {
            known.add(name);
        }
    }

    /** Asked first because an INSERT, even one that does nothing, waits for whoever has the row locked. */
    private boolean isThere(Connection connection, Dialect dialect, String name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT 1 FROM " + table + " WHERE name = ?")) {
            statement.setObject(1, dialect.bindable(name));
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    private static void setLockTimeout(Connection transaction, String value) throws SQLException {
        try (PreparedStatement statement = transaction.prepareStatement("SELECT set_config('lock_timeout', ?, true)")) {
            statement.setString(1, value);
            statement.execute();
        }
    }

    private static long number(Connection connection, String query) throws SQLException {
        return Long.parseLong(setting(connection, query));
    }

    private static String setting(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
