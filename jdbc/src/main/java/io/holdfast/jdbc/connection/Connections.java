package io.holdfast.jdbc.connection;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Lends connections by the deadline, however the pool behind behaves. Thread-safe.
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

    /** HikariCP trusts a connection used within 500 ms and asks the server about others: that may hang. */
    private static final long TRUSTED_NANOS = Duration.ofMillis(300).toNanos();

    /** How long a request may find the user's pool empty before the connection kept for renewals goes back to it. */
    private static final Duration PATIENCE = Duration.ofMillis(250);

    /** How long the user's pool misses the connection for renewals when none come, or has it back when it was too small. */
    private static final long RESERVED_NANOS = Duration.ofMinutes(1).toNanos();

    private final DataSource source;
    private final Optional<OwnPool> ownPool;
    private final Semaphore turns;
    private final int size;
    private final TimeSource time;
    private final ExecutorService fetchers;
    private final AtomicReference<@Nullable Connection> reserved = new AtomicReference<>();
    private volatile long reservingFromNanos;
    private volatile boolean closed;
    private volatile long keptNanos;
    private volatile long lastUsedNanos;

    private Connections(DataSource source, Optional<OwnPool> ownPool, int size, TimeSource time, String threadName) {
        this.source = source;
        this.ownPool = ownPool;
        this.size = size;
        // Not in strict order: handing each turn to a sleeping thread takes longer than most statements.
        this.turns = new Semaphore(size);
        this.time = time;
        this.fetchers = fetchers(size, threadName);
        this.keptNanos = time.nanoTime();
        this.reservingFromNanos = time.nanoTime();
        this.lastUsedNanos = time.nanoTime() - TRUSTED_NANOS;
    }

    /** A pool of our own, filled as needed, with one more connection than requests may use at a time. */
    public static Connections pool(String url, Dialect dialect, int size, TimeSource time, String threadName) {
        DriverConnections driver = new DriverConnections(url);
        HikariConfig config = new HikariConfig();
        config.setDataSource(driver);
        config.setPoolName(threadName);
        config.setMaximumPoolSize(size + 1);
        config.setMinimumIdle(1);
        config.setIdleTimeout(Duration.ofSeconds(30).toMillis());
        config.setConnectionTimeout(Duration.ofSeconds(1).toMillis());
        config.setValidationTimeout(Duration.ofMillis(500).toMillis());
        config.setInitializationFailTimeout(-1);
        config.setAutoCommit(true);
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        if (!dialect.connectionSettings().isEmpty()) {
            config.setConnectionInitSql(dialect.connectionSettings());
        }
        HikariDataSource pool = new HikariDataSource(config);
        return new Connections(pool, Optional.of(new OwnPool(pool, driver)), size, time, threadName);
    }

    /** HikariCP, and what it opens connections with. */
    private record OwnPool(HikariDataSource hikari, DriverConnections driver) {}

    /** The user's own, which is never closed here. */
    public static Connections of(DataSource source, int size, TimeSource time, String threadName) {
        return new Connections(source, Optional.empty(), size, time, threadName);
    }

    /** A few more threads than connections: those of requests that gave up may hang in the pool for a while. */
    private static ExecutorService fetchers(int size, String threadName) {
        AtomicInteger number = new AtomicInteger();
        return new ThreadPoolExecutor(0, 4 * (size + 1), 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread thread = new Thread(task, threadName + "-connect-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Lends a connection in autocommit mode. An interrupt is kept for later: the wait ends by the deadline anyway. */
    public Session open(Purpose purpose, Deadline deadline) throws SQLException {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return purpose == Purpose.RENEWAL ? openReserved(deadline) : openInTurn(deadline);
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

    private Session openInTurn(Deadline deadline) throws SQLException, InterruptedException {
        if (time.nanoTime() - keptNanos > RESERVED_NANOS) {
            giveBackReserved();
        }
        if (!turns.tryAcquire(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
            throw new SQLTransientConnectionException(
                    "all " + size + " connections of the lock store stayed busy; raise connections=" + size);
        }
        try {
            Connection connection = connect(deadline);
            return lend(connection, deadline, () -> {
                giveBack(connection);
                turns.release();
            });
        } catch (Throwable e) {
            turns.release();
            throw e;
        }
    }

    /** In a pool of ours there is always one more than turns. In the user's it is kept, while the user's can spare it. */
    private Session openReserved(Deadline deadline) throws SQLException, InterruptedException {
        Connection kept = reserved.getAndSet(null);
        Connection connection = kept == null ? connect(deadline) : kept;
        return lend(connection, deadline, () -> keepOrGiveBack(connection));
    }

    private void keepOrGiveBack(Connection connection) {
        boolean keep = ownPool.isEmpty() && isReserving() && !closed && isUsable(connection);
        keptNanos = time.nanoTime();
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

    private Session lend(Connection connection, Deadline deadline, Runnable giveBack) throws SQLException {
        if (ownPool.isPresent()) {
            return new Session(connection, deadline, giveBack);
        }
        try {
            boolean autoCommitBefore = connection.getAutoCommit();
            int networkTimeoutBefore = connection.getNetworkTimeout();
            if (!autoCommitBefore) {
                connection.setAutoCommit(true);
            }
            return new Session(connection, deadline, () -> {
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

    private Connection connect(Deadline deadline) throws SQLException, InterruptedException {
        if (ownPool.isPresent() && hasTrustedIdle(ownPool.get().hikari())) {
            return source.getConnection();
        }
        CompletableFuture<Connection> coming = new CompletableFuture<>();
        // The pool would go on trying for seconds when the server has said no.
        ownPool.ifPresent(own -> own.driver().tellOfFailure(coming));
        try {
            fetchers.execute(() -> fetch(coming));
            return await(coming, deadline);
        } catch (RejectedExecutionException e) {
            throw new SQLTransientConnectionException(
                    closed ? "the client is closed" : "too many tries to connect hang already", e);
        } catch (TimeoutException e) {
            abandon(coming);
            throw new SQLTransientConnectionException("no connection to " + where() + " within the time allowed", e);
        } catch (InterruptedException e) {
            abandon(coming);
            throw e;
        } finally {
            ownPool.ifPresent(own -> own.driver().tellNoMore(coming));
        }
    }

    /** For people, without credentials. */
    private String where() {
        return ownPool.map(own -> own.driver().address()).orElse("the given data source");
    }

    /** Whoever loses the race cleans up: a connection that comes late goes straight back. */
    private void abandon(CompletableFuture<Connection> coming) {
        if (!coming.cancel(false) && !coming.isCompletedExceptionally()) {
            giveBack(coming.join());
        }
    }

    private boolean hasTrustedIdle(HikariDataSource pool) {
        return time.nanoTime() - lastUsedNanos < TRUSTED_NANOS
                && pool.getHikariPoolMXBean().getIdleConnections() > 0;
    }

    private void fetch(CompletableFuture<Connection> coming) {
        while (!coming.isDone()) {
            try {
                Connection connection = source.getConnection();
                if (!coming.complete(connection)) {
                    giveBack(connection);
                }
            } catch (SQLException | RuntimeException e) {
                boolean poolIsBusy = ownPool.isPresent()
                        && e instanceof SQLTransientConnectionException
                        && e.getCause() == null
                        && !closed;
                if (!poolIsBusy) {
                    coming.completeExceptionally(e);
                }
            }
        }
    }

    private Connection await(CompletableFuture<Connection> coming, Deadline deadline)
            throws SQLException, InterruptedException, TimeoutException {
        try {
            if (ownPool.isEmpty() && isReserving()) {
                try {
                    return coming.get(deadline.within(PATIENCE).remainingNanos(), TimeUnit.NANOSECONDS);
                } catch (TimeoutException e) {
                    stopReserving();
                }
            }
            return coming.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (ownPool.isPresent()) {
                throw noConnection(e.getCause());
            }
            if (e.getCause() instanceof SQLException cause) {
                throw cause;
            }
            throw new SQLTransientConnectionException(e.getCause());
        }
    }

    /** In the driver's own words; what the pool says of itself helps nobody. */
    private SQLException noConnection(Throwable failure) {
        Throwable said = failure instanceof SQLTransientConnectionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        String why = said == failure && failure instanceof SQLTransientConnectionException
                ? "it does not answer"
                : String.valueOf(said.getMessage()).strip().replaceFirst("\\.+$", "");
        return new SQLTransientConnectionException("no connection to " + where() + ": " + why, said);
    }

    /** The user's pool is too small to spare one, for now. */
    private void stopReserving() {
        if (reserved.get() != null) {
            reservingFromNanos = time.nanoTime() + RESERVED_NANOS;
            giveBackReserved();
        }
    }

    private void giveBack(Connection connection) {
        try {
            if (!connection.isClosed()) {
                lastUsedNanos = time.nanoTime();
            }
        } catch (SQLException | RuntimeException e) {
            // Broken: closing it below is all there is to do.
        }
        try {
            connection.close();
        } catch (SQLException | RuntimeException e) {
            // It is gone already; HikariCP stumbles over connections it has just aborted.
        }
    }

    /**
     * After a connection failed, others may be dead too: they are asked for a sign of life before they are used, and if it broke
     * new ones are opened instead. If it was merely slow that would be a storm of them.
     */
    public void distrust(boolean merelySlow) {
        lastUsedNanos = time.nanoTime() - TRUSTED_NANOS;
        if (!merelySlow) {
            ownPool.ifPresent(own -> own.hikari().getHikariPoolMXBean().softEvictConnections());
        }
    }

    /** Not closed in the ordinary way, which would wait for the statement under way. */
    public static void cutOff(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException | RuntimeException e) {
            // It is gone already.
        }
    }

    @Override
    public void close() {
        closed = true;
        fetchers.shutdownNow();
        giveBackReserved();
        ownPool.ifPresent(own -> {
            own.driver().close();
            own.hikari().close();
        });
    }
}
