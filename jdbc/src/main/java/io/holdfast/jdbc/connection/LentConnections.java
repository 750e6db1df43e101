package io.holdfast.jdbc.connection;

import io.holdfast.jdbc.connection.Connections.Purpose;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The user's connections, given back as they were. One is kept for renewals while there are any, if the pool can spare it.
 * Thread-safe.
 */
final class LentConnections implements ConnectionSource {

    /** How long a request may find the pool empty before the connection kept for renewals goes back to it. */
    private static final Duration PATIENCE = Duration.ofMillis(250);

    /** How long the pool misses the connection for renewals when none come, or has it back when it was too small. */
    private static final long RESERVED_NANOS = Duration.ofMinutes(1).toNanos();

    private final TimeSource time;
    private final Connecting<Connection> connecting;
    private final AtomicReference<@Nullable Connection> reserved = new AtomicReference<>();
    private volatile long reservedNanos;
    private volatile long reservingFromNanos;
    private volatile boolean closed;

    LentConnections(DataSource source, int size, StoreContext context) {
        this.time = context.time();
        this.connecting = new Connecting<>(
                source::getConnection, LentConnections::giveBack, "the given data source", size, context.clientName());
        this.reservedNanos = time.nanoTime();
        this.reservingFromNanos = reservedNanos;
    }

    @Override
    public Loan take(Purpose purpose, Deadline deadline) throws SQLException, InterruptedException {
        if (purpose == Purpose.RENEWAL) {
            Connection kept = reserved.getAndSet(null);
            Connection connection = kept == null ? connect(deadline) : kept;
            return lend(connection, () -> keepOrGiveBack(connection));
        }
        if (time.nanoTime() - reservedNanos > RESERVED_NANOS) {
            giveBackReserved();
        }
        Connection connection = connect(deadline);
        return lend(connection, () -> giveBack(connection));
    }

    private Connection connect(Deadline deadline) throws SQLException, InterruptedException {
        CompletableFuture<Connection> coming = new CompletableFuture<>();
        if (!connecting.start(coming)) {
            throw new SQLTransientConnectionException(
                    closed ? "the client is closed" : "too many tries to connect hang already");
        }
        if (isReserving() && !connecting.isOverBy(coming, deadline.within(PATIENCE)) && reserved.get() != null) {
            // The pool is too small to spare one, for now.
            reservingFromNanos = time.nanoTime() + RESERVED_NANOS;
            giveBackReserved();
        }
        return connecting.await(coming, deadline);
    }

    private static Loan lend(Connection connection, Runnable giveBack) throws SQLException {
        try {
            boolean autoCommitBefore = connection.getAutoCommit();
            int networkTimeoutBefore = connection.getNetworkTimeout();
            if (!autoCommitBefore) {
                connection.setAutoCommit(true);
            }
            return new Loan(connection, () -> {
                try {
                    restore(connection, autoCommitBefore, networkTimeoutBefore);
                } finally {
                    giveBack.run();
                }
            });
        } catch (SQLException | RuntimeException | Error e) {
            giveBack(connection);
            throw e;
        }
    }

    /** Pools differ in what they put right themselves. */
    private static void restore(Connection connection, boolean autoCommit, int networkTimeout) {
        try {
            if (!connection.isClosed()) {
                connection.setNetworkTimeout(Runnable::run, networkTimeout);
                connection.setAutoCommit(autoCommit);
            }
        } catch (SQLException | RuntimeException e) {
            // Broken: its pool will notice. What was done with it before stands.
        }
    }

    private void keepOrGiveBack(Connection connection) {
        boolean keep = isReserving() && !closed && isUsable(connection);
        reservedNanos = time.nanoTime();
        if (!keep || !reserved.compareAndSet(null, connection)) {
            giveBack(connection);
        } else if (!isReserving() || closed) {
            giveBackReserved();
        }
    }

    private static boolean isUsable(Connection connection) {
        try {
            return !connection.isClosed();
        } catch (SQLException | RuntimeException e) {
            return false;
        }
    }

    private boolean isReserving() {
        return time.nanoTime() - reservingFromNanos >= 0;
    }

    private void giveBackReserved() {
        Connection kept = reserved.getAndSet(null);
        if (kept != null) {
            giveBack(kept);
        }
    }

    private static void giveBack(Connection connection) {
        try {
            connection.close();
        } catch (SQLException | RuntimeException e) {
            // It is gone already; pools may stumble over connections that were cut off.
        }
    }

    /** Its pool knows what to do with those that break. */
    @Override
    public void distrust(boolean merelySlow) {}

    @Override
    public void close() {
        closed = true;
        connecting.close();
        giveBackReserved();
    }
}
