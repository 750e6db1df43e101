package io.holdfast.jdbc.dialect;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;

/** What an {@link SQLException} says about the statement it ended. */
public enum SqlFailure {
    /** A deadlock, a lock wait timeout or a serialization failure: rolled back, and worth doing again. */
    RETRY,
    /** The connection broke or nothing was heard in time: the statement may have been carried out. */
    DISCONNECTED,
    /** A table or a column of ours is not there. */
    SCHEMA,
    /** The server takes no writes. */
    READ_ONLY,
    /** The server answered with any other error, and changed nothing. */
    REFUSED;

    private static final Set<String> RETRY_STATES = Set.of("40000", "40001", "40P01", "55P03", "HYT00", "90131");
    private static final int MYSQL_DEADLOCK = 1213;
    private static final int MYSQL_LOCK_WAIT_TIMEOUT = 1205;
    private static final int MYSQL_NOWAIT = 3572;
    private static final int MARIADB_STATEMENT_TIMEOUT = 1969;

    /** Another primary of the group changed the row first. */
    private static final int MYSQL_CERTIFICATION = 3101;

    private static final Set<Integer> MYSQL_RETRY = Set.of(
            MYSQL_DEADLOCK,
            MYSQL_LOCK_WAIT_TIMEOUT,
            MYSQL_NOWAIT,
            MARIADB_STATEMENT_TIMEOUT,
            1020,
            MYSQL_CERTIFICATION);

    /** Shutdown in progress, query interrupted, connection killed. */
    private static final Set<Integer> MYSQL_DISCONNECTED = Set.of(1053, 1317, 1927, 3169);

    /** Connection broken, database closed, database closing. */
    private static final Set<String> H2_DISCONNECTED = Set.of("90067", "90098", "90121");

    private static final Set<String> SCHEMA_STATES = Set.of("42P01", "42703", "42S02", "42S22", "3F000");
    /** Too many connections: of all, of this user. */
    private static final Set<Integer> MYSQL_FULL = Set.of(1040, 1203, 1226);

    private static final Set<Integer> MYSQL_READ_ONLY = Set.of(1290, 1792, 1836);

    public static SqlFailure of(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        int code = e.getErrorCode();
        if (RETRY_STATES.contains(state) || MYSQL_RETRY.contains(code)) {
            return RETRY;
        }
        if (state.startsWith("08")
                || state.startsWith("57P")
                || H2_DISCONNECTED.contains(state)
                || MYSQL_DISCONNECTED.contains(code)
                || isBroken(e)) {
            return DISCONNECTED;
        }
        if (state.equals("25006") || MYSQL_READ_ONLY.contains(code)) {
            return READ_ONLY;
        }
        return SCHEMA_STATES.contains(state) ? SCHEMA : REFUSED;
    }

    /** Whether it has as many connections as it, or this user, may have. */
    public static boolean isServerFull(Throwable failure) {
        return failure instanceof SQLException e
                && ("53300".equals(e.getSQLState()) || MYSQL_FULL.contains(e.getErrorCode()));
    }

    /** Whether nothing was heard in time, which says little about other connections. */
    public static boolean isTimeout(SQLException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLTimeoutException || cause instanceof SocketTimeoutException) {
                return true;
            }
        }
        return false;
    }

    private static boolean isBroken(SQLException e) {
        return e instanceof SQLNonTransientConnectionException
                || e instanceof SQLTransientConnectionException
                || e instanceof SQLRecoverableException
                || e instanceof SQLTimeoutException
                || e.getCause() instanceof IOException;
    }
}
