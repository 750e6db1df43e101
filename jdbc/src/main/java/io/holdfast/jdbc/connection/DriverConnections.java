package io.holdfast.jdbc.connection;

import io.holdfast.spi.StoreUri;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** Opens connections to a URL, and tells those who wait for one what the driver said when it could not. Thread-safe. */
public final class DriverConnections implements DataSource {

    /*
     * HikariCP opens connections on one thread. When that fails it sleeps, up to five seconds, and nobody can wake it: a server that is
     * back would stay unused for as long as it was away. So it is not told of failures. Its thread waits here until somebody asks for
     * a connection, and tries again.
     */

    /** Between two tries: so often at most is a server asked that refuses. */
    private static final Duration PAUSE = Duration.ofMillis(50);

    /** Between two tries if nobody asks. */
    private static final Duration IDLE_PAUSE = Duration.ofSeconds(5);

    private final String url;
    private final Set<CompletableFuture<Connection>> waiting = ConcurrentHashMap.newKeySet();
    private final Semaphore asked = new Semaphore(0);
    private volatile boolean closed;

    DriverConnections(String url) {
        this.url = url;
    }

    /** For people, without credentials. */
    String address() {
        return StoreUri.parse(url).toString();
    }

    void tellOfFailure(CompletableFuture<Connection> coming) {
        waiting.add(coming);
        asked.release();
    }

    void tellNoMore(CompletableFuture<Connection> coming) {
        waiting.remove(coming);
    }

    /** Tries until it succeeds or this is closed. */
    @Override
    public Connection getConnection() throws SQLException {
        while (true) {
            // Who has asked by now hears of this try; who asks later may need another.
            asked.drainPermits();
            try {
                return connect();
            } catch (SQLException | RuntimeException | Error e) {
                // A copy: who asks again because of it hears of the next try.
                List.copyOf(waiting).forEach(coming -> coming.completeExceptionally(e));
                if (!awaitNextTry()) {
                    throw e;
                }
            }
        }
    }

    private Connection connect() throws SQLException {
        Properties properties = new Properties();
        if (url.startsWith("jdbc:mariadb:")) {
            // Parsing our few statements costs the server as much as running them. A word in the URL wins.
            // Not with MySQL's driver, which prepares in a round trip of its own.
            properties.setProperty("useServerPrepStmts", "true");
        }
        Connection connection = DriverManager.getConnection(url, properties);
        if (closed) {
            // HikariCP would forget it.
            connection.close();
            throw new SQLException("the client is closed");
        }
        return connection;
    }

    /** Returns false if there shall be none. */
    private boolean awaitNextTry() {
        try {
            if (!closed) {
                TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
                asked.tryAcquire(IDLE_PAUSE.toNanos(), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        return !closed;
    }

    /** Opens no more. */
    void close() {
        closed = true;
        asked.release();
    }

    @Override
    public Connection getConnection(String user, String password) {
        throw new UnsupportedOperationException("the URL says who connects");
    }

    @Override
    public PrintWriter getLogWriter() {
        throw new UnsupportedOperationException("nothing is logged here");
    }

    @Override
    public void setLogWriter(PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {
        // HikariCP would set it for all connections of this JVM.
    }

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException("nothing is logged here");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("it wraps nothing");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
