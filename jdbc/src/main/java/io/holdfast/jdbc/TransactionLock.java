package io.holdfast.jdbc;

import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

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
 * Taking two locks in different orders can deadlock, which the database ends with an error. A row per name stays for ever.
 * Thread-safe.
 */
public final class TransactionLock {

    /*
     * The row of a new name is added by the caller's transaction itself. A connection of its own for that would have to come
     * from somewhere: when every thread holds one and asks the same pool for another, none gets any.
     *
     * INSERT … ON CONFLICT, or ON DUPLICATE KEY, adds the row or locks it, without reading and so without fixing the caller's
     * snapshot. Looking with FOR UPDATE whether it exists is no way: at MySQL's REPEATABLE READ that locks the gap a missing row
     * would be in, which any number of transactions can do at once; then each waits for the others to insert it.
     *
     * On MySQL the row of a first transaction that rolls back goes away, and all who waited for it are left with the gap
     * locked: again none of them can insert. So there only one at a time may wait for a row that may go away: it takes its
     * turn by a session lock, let go as soon as the row is locked. Rows once seen committed never go away, need no turn, and
     * are remembered. A transaction that has the row must not queue behind one that waits for it: a savepoint, which ends
     * with the transaction, tells that it has it.
     *
     * On PostgreSQL the row is updated instead of just locked. At REPEATABLE READ the snapshot is older than the wait for the
     * lock, and only a changed row makes the server say so (40001) instead of showing stale data.
     */

    private static final TableName STANDARD_TABLE = new TableName("holdfast_mutex");
    private static final int MARK_DIGITS = 32;
    private static final int MYSQL_LOCK_WAIT_TIMEOUT = 1205;
    private static final int MYSQL_NO_SUCH_SAVEPOINT = 1305;
    private static final String STATE_ROLLED_BACK = "40001";
    private static final String POSTGRES_LOCK_TIMEOUT = "55P03";

    /** The name of a session lock: those are the server's, not the database's, and at most 64 characters long. */
    private static final String TURN = "SHA2(CONCAT_WS('/', DATABASE(), ?, ?), 256)";

    /** So many names are remembered. */
    private static final int MOST_KNOWN = 10_000;

    private final TableName table;

    /** Names whose rows are there to stay. */
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    private TransactionLock(TableName table) {
        this.table = table;
    }

    /** With rows in {@code holdfast_mutex}. Keep it: it remembers which names have one. */
    public static TransactionLock standard() {
        return new TransactionLock(STANDARD_TABLE);
    }

    /** Instead of {@code holdfast_mutex}. */
    public TransactionLock withTable(String name) {
        return new TransactionLock(new TableName(name));
    }

    /** Waits for the lock as long as the server lets it. */
    public void lock(Connection transaction, String name) throws SQLException {
        Transactions.require(transaction, "a transaction lock");
        if (Dialect.forRecipes(transaction) == Dialect.POSTGRESQL) {
            addOrUpdate(transaction, name);
            return;
        }
        if (lockKnown(transaction, name)) {
            return;
        }
        long seconds = lockWaitTimeout(transaction);
        if (!lockNew(transaction, name, seconds)) {
            throw new SQLException(
                    "others kept '" + name + "' in " + table + " locked for " + seconds + " s",
                    "HY000",
                    MYSQL_LOCK_WAIT_TIMEOUT);
        }
    }

    /**
     * Waits for the lock, but not longer than told (in whole seconds on MySQL, rounded up). False if others kept it; the
     * transaction can then go on without.
     *
     * @throws SQLException with state 40001 if others kept it and MySQL's {@code innodb_rollback_on_timeout} is on: giving up
     *     rolled the transaction back, so start it over
     */
    public boolean tryLock(Connection transaction, String name, Duration maxWait) throws SQLException {
        Transactions.require(transaction, "a transaction lock");
        return Dialect.forRecipes(transaction) == Dialect.MYSQL
                ? tryOnMySql(transaction, name, wholeSeconds(maxWait))
                : tryOnPostgres(transaction, name, maxWait);
    }

    private static long wholeSeconds(Duration wait) {
        return Math.max(1, wait.plusMillis(999).toSeconds());
    }

    private boolean tryOnMySql(Connection transaction, String name, long seconds) throws SQLException {
        long before = lockWaitTimeout(transaction);
        setLockWaitTimeout(transaction, seconds);
        try (Undo limit = () -> setLockWaitTimeout(transaction, before)) {
            return lockKnown(transaction, name) || lockNew(transaction, name, seconds);
        } catch (SQLException e) {
            if (e.getErrorCode() != MYSQL_LOCK_WAIT_TIMEOUT) {
                throw e;
            }
            requireNotRolledBack(transaction, name, e);
            return false;
        }
    }

    private static void requireNotRolledBack(Connection transaction, String name, SQLException timeout)
            throws SQLException {
        if (setting(transaction, "SELECT @@innodb_rollback_on_timeout").equals("1")) {
            throw new SQLException(
                    "others kept '" + name + "', and giving up rolled the whole transaction back"
                            + " (innodb_rollback_on_timeout is on): start it over",
                    STATE_ROLLED_BACK,
                    MYSQL_LOCK_WAIT_TIMEOUT,
                    timeout);
        }
    }

    private boolean lockKnown(Connection transaction, String name) throws SQLException {
        if (!known.contains(name)) {
            return false;
        }
        if (!lockExisting(transaction, name)) {
            known.remove(name);
            return false;
        }
        // For other instances in this transaction, which might queue behind somebody who waits for its row.
        execute(transaction, "SAVEPOINT " + mark(name));
        return true;
    }

    /**
     * Also right if the row is there. False if its turn did not come.
     *
     * @param seconds how long the session waits for locks
     */
    private boolean lockNew(Connection transaction, String name, long seconds) throws SQLException {
        String mark = mark(name);
        if (isMarked(transaction, mark)) {
            execute(transaction, "SAVEPOINT " + mark);
            return true;
        }
        long startNanos = System.nanoTime();
        if (!takeTurn(transaction, name, seconds)) {
            return false;
        }
        try (Undo turn = () -> endTurn(transaction, name)) {
            long waited = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
            if (addOrUpdateWithin(transaction, name, seconds, waited) == Change.UPDATED) {
                if (known.size() >= MOST_KNOWN) {
                    known.clear();
                }
                known.add(name);
            }
        }
        execute(transaction, "SAVEPOINT " + mark);
        return true;
    }

    private Change addOrUpdateWithin(Connection transaction, String name, long seconds, long waited)
            throws SQLException {
        if (waited == 0) {
            return addOrUpdate(transaction, name);
        }
        setLockWaitTimeout(transaction, Math.max(1, seconds - waited));
        try (Undo limit = () -> setLockWaitTimeout(transaction, seconds)) {
            return addOrUpdate(transaction, name);
        }
    }

    private String mark(String name) {
        return "holdfast_" + Idempotency.fingerprint(table + "/" + name).substring(0, MARK_DIGITS);
    }

    /** Takes the mark away. */
    private static boolean isMarked(Connection transaction, String mark) throws SQLException {
        try {
            execute(transaction, "RELEASE SAVEPOINT " + mark);
            return true;
        } catch (SQLException e) {
            if (e.getErrorCode() == MYSQL_NO_SUCH_SAVEPOINT) {
                return false;
            }
            throw e;
        }
    }

    private boolean lockExisting(Connection transaction, String name) throws SQLException {
        String sql = "SELECT uses FROM " + table + " WHERE name = ? FOR UPDATE";
        try (PreparedStatement statement = transaction.prepareStatement(sql)) {
            statement.setObject(1, Dialect.MYSQL.bindable(name));
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    private boolean takeTurn(Connection transaction, String name, long seconds) throws SQLException {
        try (PreparedStatement statement = transaction.prepareStatement("SELECT GET_LOCK(" + TURN + ", ?)")) {
            bindTurn(statement, name);
            statement.setLong(3, seconds);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getInt(1) == 1;
            }
        }
    }

    private void endTurn(Connection transaction, String name) throws SQLException {
        try (PreparedStatement statement = transaction.prepareStatement("DO RELEASE_LOCK(" + TURN + ")")) {
            bindTurn(statement, name);
            statement.execute();
        }
    }

    private void bindTurn(PreparedStatement statement, String name) throws SQLException {
        statement.setString(1, table.text());
        statement.setObject(2, Dialect.MYSQL.bindable(name));
    }

    /** A timeout would spoil the transaction: the savepoint undoes it, and the setting with it. */
    private boolean tryOnPostgres(Connection transaction, String name, Duration maxWait) throws SQLException {
        Savepoint savepoint = transaction.setSavepoint();
        String before = setting(transaction, "SELECT current_setting('lock_timeout')");
        setLockTimeout(transaction, Math.max(1, maxWait.toMillis()) + "ms");
        try {
            addOrUpdate(transaction, name);
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

    private enum Change {
        ADDED,
        UPDATED
    }

    /** Either way the row is locked. PostgreSQL does not tell which it was. */
    private Change addOrUpdate(Connection transaction, String name) throws SQLException {
        Dialect dialect = Dialect.forRecipes(transaction);
        String sql = dialect == Dialect.MYSQL
                ? "INSERT INTO " + table + " (name, uses) VALUES (?, 1) ON DUPLICATE KEY UPDATE uses = uses + 1"
                : "INSERT INTO " + table + " AS mutex (name, uses) VALUES (?, 1)"
                        + " ON CONFLICT (name) DO UPDATE SET uses = mutex.uses + 1";
        try (PreparedStatement statement = transaction.prepareStatement(sql)) {
            statement.setObject(1, dialect.bindable(name));
            return statement.executeUpdate() == 1 ? Change.ADDED : Change.UPDATED;
        }
    }

    private static void setLockTimeout(Connection transaction, String value) throws SQLException {
        try (PreparedStatement statement = transaction.prepareStatement("SELECT set_config('lock_timeout', ?, true)")) {
            statement.setString(1, value);
            statement.execute();
        }
    }

    private static long lockWaitTimeout(Connection transaction) throws SQLException {
        return Long.parseLong(setting(transaction, "SELECT @@SESSION.innodb_lock_wait_timeout"));
    }

    private static void setLockWaitTimeout(Connection transaction, long seconds) throws SQLException {
        execute(transaction, "SET SESSION innodb_lock_wait_timeout = " + seconds);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String setting(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }

    /** Puts something right again, without hiding what went wrong before. */
    private interface Undo extends AutoCloseable {
        @Override
        void close() throws SQLException;
    }
}
