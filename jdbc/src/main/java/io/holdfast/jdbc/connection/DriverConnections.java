package io.holdfast.jdbc.connection;

import io.holdfast.spi.StoreUri;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** Opens connections to a URL, and tells those who wait for one what the driver said when it could not. Thread-safe. */
public final class DriverConnections implements DataSource {

    private final String url;
    private final Set<CompletableFuture<Connection>> waiting = ConcurrentHashMap.newKeySet();

    DriverConnections(String url) {
        this.url = url;
    }

    /** For people, without credentials. */
    String address() {
        return StoreUri.parse(url).toString();
    }

    void tellOfFailure(CompletableFuture<Connection> coming) {
        waiting.add(coming);
    }

    void tellNoMore(CompletableFuture<Connection> coming) {
        waiting.remove(coming);
    }

    @Override
    public Connection getConnection() throws SQLException {
        Properties properties = new Properties();
        if (url.startsWith("jdbc:mariadb:")) {
            // Parsing our few statements costs the server as much as running them. A word in the URL wins.
            // Not with MySQL's driver, which prepares in a round trip of its own.
            properties.setProperty("useServerPrepStmts", "true");
        }
        try {
            return DriverManager.getConnection(url, properties);
        } catch (SQLException | RuntimeException | Error e) {
            waiting.forEach(coming -> coming.completeExceptionally(e));
            throw e;
        }
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
