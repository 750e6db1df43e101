package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** Transactions of the recipes: required of the caller, or run on its behalf. */
final class Transactions {

    /** What runs inside one. */
    @FunctionalInterface
    interface Work<T, X extends Exception> {
        T run(Connection connection) throws SQLException, X;
    }

    private static final int LONGEST_PAUSE_SHIFT = 6;

    private Transactions() {}

    static void require(Connection connection, String what) throws SQLException {
        if (connection.getAutoCommit()) {
            throw new IllegalStateException(
                    what + " works inside a transaction: call setAutoCommit(false) on the connection first");
        }
    }

    /** Refuses what hands out the connection of the caller's transaction: to commit on it would commit the caller's data. */
    static void requireOwn(DataSource dataSource) {
        String type = dataSource.getClass().getSimpleName();
        if (type.startsWith("TransactionAware")) {
            throw new IllegalArgumentException(
                    "a " + type + " hands out the connection of the caller's own transaction,"
                            + " which would be committed or rolled back with what is done here: give the DataSource behind it");
        }
    }

    /** Commits if the work returns and rolls back if it throws. */
    static <T, X extends Exception> T run(DataSource dataSource, Work<T, X> work) throws SQLException, X {
        try (Connection connection = dataSource.getConnection()) {
            boolean autoCommitBefore = connection.getAutoCommit();
            connection.setAutoCommit(false);
            boolean done = false;
            try {
                T result = work.run(connection);
                connection.commit();
                done = true;
                return result;
            } finally {
                finish(connection, done, autoCommitBefore);
            }
        }
    }

    private static void finish(Connection connection, boolean done, boolean autoCommitBefore) {
        try {
            if (!done) {
                connection.rollback();
            }
            if (autoCommitBefore) {
                connection.setAutoCommit(true);
            }
        } catch (SQLException e) {
            // The connection is broken: the server rolls back by itself, and what failed first is what counts.
        }
    }

    /** In autocommit mode, on a connection of its own. */
    static <T> T runAlone(DataSource dataSource, Work<T, SQLException> work) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            boolean autoCommitBefore = connection.getAutoCommit();
            connection.setAutoCommit(true);
            try {
                return work.run(connection);
            } finally {
                if (!autoCommitBefore) {
                    connection.setAutoCommit(false);
                }
            }
        }
    }

    /** Short and random, longer from try to try. */
    static void pauseAfterConflict(int tries) throws InterruptedException {
        long longestMillis = 1L << Math.min(tries, LONGEST_PAUSE_SHIFT);
        TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextLong(1, longestMillis * 1000));
    }
}
