package io.holdfast.jdbc.row;

import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.jdbc.connection.Connections;
import io.holdfast.jdbc.connection.Connections.Purpose;
import io.holdfast.jdbc.connection.Session;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.SqlFailure;
import io.holdfast.jdbc.dialect.TableName;
import io.holdfast.spi.Deadline;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Runs work on a borrowed connection: does again what the server rolled back, and says in the API's words what went wrong.
 * Thread-safe.
 */
public final class Requests {

    /** Work that may run more than once: whenever its last change fails, the server has undone that one. */
    @FunctionalInterface
    public interface Work<T> {
        T run(Session session, LockSql sql) throws SQLException;
    }

    private static final long RETRY_PAUSE_NANOS = Duration.ofMillis(1).toNanos();
    private static final int LONGEST_PAUSE_SHIFT = 5;

    private final Connections connections;
    private final TableName table;
    private final Schema.Creation creation;
    private volatile @Nullable LockSql sql;

    public Requests(Connections connections, TableName table, Schema.Creation creation) {
        this.connections = connections;
        this.table = table;
        this.creation = creation;
    }

    /** Runs work that needs no other on the same connection. */
    public <T> T run(String lockName, Deadline deadline, Work<T> work) {
        try (Exchange exchange = begin(lockName, deadline, Duration.ZERO)) {
            return exchange.run(work);
        }
    }

    /** @param retryUntil until when what the server rolled back is done again */
    public <T> T run(String lockName, Purpose purpose, Deadline deadline, Deadline retryUntil, Work<T> work) {
        try (Exchange exchange = new Exchange(lockName, open(lockName, purpose, deadline, Duration.ZERO), retryUntil)) {
            return exchange.run(work);
        }
    }

    /**
     * Begins a request of several steps.
     *
     * @param leastTime to connect, and then for all steps, beyond the deadline if need be
     */
    public Exchange begin(String lockName, Deadline deadline, Duration leastTime) {
        Session session = open(lockName, Purpose.REQUEST, deadline, leastTime);
        return new Exchange(lockName, session, session.deadline());
    }

    private Session open(String lockName, Purpose purpose, Deadline deadline, Duration leastTime) {
        try {
            return connections.open(purpose, deadline, leastTime);
        } catch (SQLTimeoutException e) {
            // No connection was used, so nothing is known of those there are.
            throw new StoreUnavailableException(lockName, e.getMessage(), e);
        } catch (SQLException e) {
            throw inOurWords(lockName, e, false);
        }
    }

    /** A connection lent for the steps of one request. Used by one thread. */
    public final class Exchange implements AutoCloseable {

        private final String lockName;
        private final Session session;
        private final Deadline retryUntil;

        private Exchange(String lockName, Session session, Deadline retryUntil) {
            this.lockName = lockName;
            this.session = session;
            this.retryUntil = retryUntil;
        }

        public <T> T run(Work<T> work) {
            for (int tries = 1; ; tries++) {
                try {
                    return work.run(session, checkedSql(session));
                } catch (SQLException e) {
                    SqlFailure failure = SqlFailure.of(e);
                    if (failure == SqlFailure.READ_ONLY || failure == SqlFailure.DISCONNECTED) {
                        // The server was demoted and kept its connections: a new one may find the primary. Or its
                        // answer is still to come, and would be taken for that to the next statement.
                        Connections.cutOff(session.connection());
                    }
                    boolean uncertain = session.isUncertain();
                    session.startOver();
                    if (failure != SqlFailure.RETRY || !pauseBeforeRetry(tries, retryUntil)) {
                        throw inOurWords(lockName, e, uncertain);
                    }
                }
            }
        }

        @Override
        public void close() {
            session.close();
        }
    }

    /** Which server it is shows on the first connection. */
    private LockSql checkedSql(Session session) throws SQLException {
        LockSql known = sql;
        if (known == null) {
            Dialect dialect = Dialect.of(session.connection());
            known = new LockSql(dialect, table, new Schema(dialect, table, creation));
            sql = known;
        }
        known.schema().ensure(session);
        return known;
    }

    /** Short and random, so that those who collided do not collide again. False if there is no time left. */
    private static boolean pauseBeforeRetry(int tries, Deadline deadline) {
        if (deadline.hasPassed()) {
            return false;
        }
        long longest = RETRY_PAUSE_NANOS << Math.min(tries - 1, LONGEST_PAUSE_SHIFT);
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(longest));
        return !deadline.hasPassed();
    }

    private LockException inOurWords(String lockName, SQLException e, boolean uncertain) {
        return switch (SqlFailure.of(e)) {
            case DISCONNECTED -> {
                connections.distrust(SqlFailure.isTimeout(e));
                yield uncertain
                        ? new UnknownOutcomeException(lockName, e.getMessage(), e)
                        : new StoreUnavailableException(lockName, e.getMessage(), e);
            }
            case RETRY ->
                new StoreUnavailableException(
                        lockName, "its row stayed locked by others, the last time with: " + e.getMessage(), e);
            case SCHEMA -> new StoreUnavailableException(lockName, schemaTrouble(e.getMessage()), e);
            case READ_ONLY -> {
                connections.distrust(false);
                yield new StoreUnavailableException(
                        lockName, "the server is read-only (" + e.getMessage() + "): connect to the primary", e);
            }
            case REFUSED -> new StoreUnavailableException(lockName, e.getMessage(), e);
        };
    }

    private String schemaTrouble(String problem) {
        LockSql known = sql;
        if (known == null) {
            return problem;
        }
        known.schema().forget();
        return known.schema().howToCreate(problem);
    }
}
