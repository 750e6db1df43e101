package io.holdfast.jdbc;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HexFormat;

/** The statements about the session lock that goes with one lock: {@code GET_LOCK} or an advisory lock. Immutable. */
final class BatonSql {

    /*
     * One statement says whether nobody else had it (1), it was waited for (2), it did not come in time (0), or it is no use (-1).
     *
     * PostgreSQL: behind a pooler a session lock belongs to whatever connection the pooler chose, and stays there. It shows by
     * the process, which is not the one that greeted the driver. A statement that waits keeps a snapshot, which holds up VACUUM,
     * and CREATE INDEX CONCURRENTLY for good if that is what the holder does: so nobody waits for long. (The setting is undone with
     * the statement that fails of it.) MySQL's waits keep nothing, and end when the server finds their client gone.
     */
    private static final String POSTGRESQL_WAIT = """
            SELECT CASE WHEN pg_backend_pid() <> ? THEN -1
                WHEN pg_try_advisory_lock(?) THEN 1
                WHEN set_config('lock_timeout', '1s', false) IS NULL THEN 0
                WHEN CAST(pg_advisory_lock(?) AS text) IS NULL THEN 0
                WHEN set_config('lock_timeout', '%s', false) IS NULL THEN 0
                ELSE 2 END""".formatted(Connections.POSTGRESQL_LOCK_TIMEOUT);

    private static final String POSTGRESQL_TRY =
            "SELECT CASE WHEN pg_backend_pid() <> ? THEN FALSE ELSE pg_try_advisory_lock(?) END";

    private static final String POSTGRESQL_PASS_ON = "SELECT pg_advisory_unlock(?)";

    private static final String MYSQL_WAIT = "SELECT IF(GET_LOCK(?, 0) = 1, 1, IF(GET_LOCK(?, 3600) = 1, 2, 0))";
    private static final String MYSQL_TRY = "SELECT GET_LOCK(?, 0)";
    private static final String MYSQL_PASS_ON = "SELECT RELEASE_LOCK(?)";

    private static final int PASS_ON_MILLIS = 2_000;

    private final Dialect dialect;
    private final byte[] digest;

    /** Two locks that share a session lock, by chance, are in each other's way; neither is less exclusive for it. */
    BatonSql(Dialect dialect, String home, TableName table, String name) {
        this.dialect = dialect;
        this.digest = sha256(String.join("\n", home, table.text(), name));
    }

    /** A wait that another thread can end by cancelling its statement. */
    PreparedWait prepareWait(Connection connection) throws SQLException {
        boolean postgres = dialect == Dialect.POSTGRESQL;
        // Waits as long as it takes: whoever has stopped waiting cancels.
        connection.setNetworkTimeout(Runnable::run, 0);
        PreparedStatement statement = connection.prepareStatement(postgres ? POSTGRESQL_WAIT : MYSQL_WAIT);
        int at = postgres ? bindProcess(statement, connection) : 1;
        bindKey(statement, at);
        bindKey(statement, at + 1);
        return new PreparedWait(statement);
    }

    /** Takes it if nobody has it. */
    boolean tryTake(Connection connection) throws SQLException {
        boolean postgres = dialect == Dialect.POSTGRESQL;
        try (PreparedStatement statement = connection.prepareStatement(postgres ? POSTGRESQL_TRY : MYSQL_TRY)) {
            bindKey(statement, postgres ? bindProcess(statement, connection) : 1);
            return isTrue(statement);
        }
    }

    /** Whether nobody has it. */
    boolean isFree(Connection connection) throws SQLException {
        boolean free = tryTake(connection);
        if (free) {
            letGo(connection);
        }
        return free;
    }

    /** Frees it for certain: with the connection, if there is no other way. */
    void letGo(Connection connection) {
        boolean free = false;
        try {
            free = passOn(connection);
        } catch (SQLException | RuntimeException e) {
            // Cut off below.
        }
        if (!free) {
            Connections.cutOff(connection);
        }
    }

    /** Whether the connection had it, and has it no more. */
    boolean passOn(Connection connection) throws SQLException {
        String sql = dialect == Dialect.POSTGRESQL ? POSTGRESQL_PASS_ON : MYSQL_PASS_ON;
        connection.setNetworkTimeout(Runnable::run, PASS_ON_MILLIS);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bindKey(statement, 1);
            return isTrue(statement);
        }
    }

    /** Returns the next parameter's number. */
    private static int bindProcess(PreparedStatement statement, Connection connection) throws SQLException {
        statement.setInt(1, PostgresBell.process(connection));
        return 2;
    }

    private void bindKey(PreparedStatement statement, int parameter) throws SQLException {
        if (dialect == Dialect.POSTGRESQL) {
            statement.setLong(parameter, new BigInteger(digest).longValue());
        } else {
            statement.setString(parameter, mysqlKey());
        }
    }

    String mysqlKey() {
        return "holdfast_" + HexFormat.of().formatHex(digest, 0, 16);
    }

    private boolean isTrue(PreparedStatement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery()) {
            rows.next();
            return dialect == Dialect.POSTGRESQL ? rows.getBoolean(1) : rows.getInt(1) == 1;
        }
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
