package io.holdfast.jdbc.connection;

import io.holdfast.jdbc.connection.ConnectionSource.Loan;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * Lends connections by the deadline, however the driver or the pool behind behaves. Thread-safe.
 *
 * <p>Requests take turns for a bounded number of connections; renewals pass them by and have one more to themselves, so a
 * crowd of acquirers cannot cost anybody a lease.
 */
public final class Connections implements AutoCloseable {

    /** Who asks. */
    public enum Purpose {
        REQUEST,
        RENEWAL
    }

    private final ConnectionSource source;
    private final Semaphore turns;
    private final int size;
    private final TimeSource time;

    private Connections(ConnectionSource source, int size, TimeSource time) {
        this.source = source;
        this.size = size;
        // Not in strict order: handing each turn to a sleeping thread takes longer than most statements.
        this.turns = new Semaphore(size);
        this.time = time;
    }

    /** A pool of our own, filled as needed, with one more connection than requests may use at a time. */
    public static Connections pool(String url, Dialect dialect, int size, StoreContext context) {
        return new Connections(new OwnConnections(url, dialect, size, context), size, context.time());
    }

    /** The user's own, which is never closed here. */
    public static Connections of(DataSource source, int size, StoreContext context) {
        return new Connections(new LentConnections(source, size, context), size, context.time());
    }

    /**
     * Lends a connection in autocommit mode. An interrupt is kept for later: the wait ends by the deadline anyway.
     *
     * @param leastTime to connect, and then for statements, beyond the deadline if need be
     */
    public Session open(Purpose purpose, Deadline deadline, Duration leastTime) throws SQLException {
        Deadline connected = atLeast(deadline, leastTime);
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    Loan loan = purpose == Purpose.RENEWAL ? source.take(purpose, connected) : takeInTurn(connected);
                    return new Session(loan.connection(), atLeast(deadline, leastTime), loan.end());
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** This deadline, or the moment so far from now if that is later. */
    private Deadline atLeast(Deadline deadline, Duration least) {
        return deadline.remainingNanos() < least.toNanos() ? Deadline.after(time, least) : deadline;
    }

    private Loan takeInTurn(Deadline deadline) throws SQLException, InterruptedException {
        if (!turns.tryAcquire(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
            throw new SQLTimeoutException(
                    "all " + size + " connections of the lock store stayed busy; raise connections=" + size);
        }
        try {
            Loan loan = source.take(Purpose.REQUEST, deadline);
            return new Loan(loan.connection(), () -> {
                try {
                    loan.end().run();
                } finally {
                    turns.release();
                }
            });
        } catch (Throwable e) {
            turns.release();
            throw e;
        }
    }

    /** After a connection failed, others may be dead too: they are asked for a sign of life, or new ones are opened. */
    public void distrust(boolean merelySlow) {
        source.distrust(merelySlow);
    }

    /** Not closed in the ordinary way, which would wait for the statement under way. */
    public static void cutOff(Connection connection) {
        try {
            connection.abort(Runnable::run);
            // A pool it belongs to notices by an error that it is closed, and else may lend it to somebody.
            connection.prepareStatement("SELECT 1").close();
        } catch (SQLException | RuntimeException e) {
            // It is gone.
        }
    }

    @Override
    public void close() {
        source.close();
    }
}
