package io.holdfast.jdbc;

import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.jdbc.Connections.Purpose;
import io.holdfast.spi.Deadline;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Runs work on a borrowed connection: does again what the server rolled back, and says in the API's words what went wrong.
 * Thread-safe.
 */
final class Requests {

    /** Work that may run more than once: whenever it fails, the server has undone it. */
    @FunctionalInterface
    interface Work<T> {
        T run(Session session, LockSql sql) throws SQLException;
    }

    @FunctionalInterface
    private interface Opener {
        Session open() throws SQLException;
    }

    private static final long RETRY_PAUSE_NANOS = Duration.ofMillis(1).toNanos();
    private static final int LONGEST_PAUSE_SHIFT = 5;

    private final Connections connections;
    private final TableName table;
    private final Schema.Creation creation;
    private volatile @Nullable LockSql sql;

    Requests(Connections connections, TableName table, Schema.Creation creation) {
        this.connections = connections;
        this.table = table;
        this.creation = creation;
    }

    <T> T run(String lockName, Deadline deadline, Work<T> work) {
        return run(lockName, Purpose.REQUEST, deadline, deadline, work);
    }

    /** In one transaction: committed if the work returns, undone if it throws. */
    <T> T transact(String lockName, Deadline deadline, Work<T> work) {
        return run(lockName, deadline, inTransaction(work));
    }

    /** The same as work to run. */
    static <T> Work<T> inTransaction(Work<T> work) {
        return (session, sql) -> {
            session.begin(sql.dialect());
            T result = work.run(session, sql);
            session.commit();
            return result;
        };
    }

    /** On the connection of a baton, which is of no use if it breaks. */
    <T> T runWith(Baton baton, String lockName, Deadline deadline, Work<T> work) {
        return retrying(
                lockName,
                deadline,
                () -> new Session(baton.connection(), deadline, true, () -> {}),
                work,
                baton::isBroken);
    }

    /** @param retryUntil until when what the server rolled back is done again */
    <T> T run(String lockName, Purpose purpose, Deadline deadline, Deadline retryUntil, Work<T> work) {
        return retrying(lockName, retryUntil, () -> connections.open(purpose, deadline), work, () -> {});
    }

    private <T> T retrying(String lockName, Deadline retryUntil, Opener opener, Work<T> work, Runnable atFailure) {
        for (int tries = 1; ; tries++) {
            Session.Progress progress = Session.Progress.HARMLESS;
            try (Session session = opener.open()) {
                try {
                    return work.run(session, checkedSql(session));
                } finally {
                    progress = session.progress();
                }
            } catch (SQLException e) {
                if (SqlFailure.of(e) != SqlFailure.RETRY || !pauseBeforeRetry(tries, retryUntil)) {
                    atFailure.run();
                    throw inOurWords(lockName, e, progress);
                }
            }
        }
    }

    /** The statements, once there has been a connection. */
    Optional<LockSql> knownSql() {
        return Optional.ofNullable(sql);
    }

    /** Which server it is shows on the first connection. */
    private LockSql checkedSql(Session session) throws SQLException {
        LockSql known = sql;
        if (known == null) {
            Dialect dialect = Dialect.of(session.connection());
            known = new LockSql(
                    dialect, home(dialect, session.connection()), table, new Schema(dialect, table, creation));
            sql = known;
        }
        known.schema().ensure(session);
        return known;
    }

    /** Where a table without a schema in its name is, so that locks of the same name in two places have two batons. */
    private String home(Dialect dialect, Connection connection) throws SQLException {
        if (!table.schema().isEmpty()) {
            return "";
        }
        String database = dialect == Dialect.POSTGRESQL ? null : connection.getCatalog();
        return Objects.requireNonNullElse(database == null ? connection.getSchema() : database, "");
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

    private LockException inOurWords(String lockName, SQLException e, Session.Progress progress) {
        return switch (SqlFailure.of(e)) {
            case DISCONNECTED -> {
                connections.distrust();
                yield progress == Session.Progress.UNCERTAIN
                        ? new UnknownOutcomeException(lockName, e.getMessage(), e)
                        : new StoreUnavailableException(lockName, e.getMessage(), e);
            }
            case RETRY ->
                new StoreUnavailableException(
                        lockName, "its row stayed locked by others, the last time with: " + e.getMessage(), e);
            case SCHEMA -> new StoreUnavailableException(lockName, schemaTrouble(e.getMessage()), e);
            case READ_ONLY ->
                new StoreUnavailableException(
                        lockName, "the server is read-only (" + e.getMessage() + "): connect to the primary", e);
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
