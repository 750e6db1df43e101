package io.holdfast.jdbc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.holdfast.jdbc.connection.Connections.Purpose;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A server that refuses connections")
class ServerThatRefusesTest {

    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String URL = "jdbc:refusing://127.0.0.1:1/test";

    private final RefusingDriver driver = new RefusingDriver();

    @BeforeEach
    void register() throws SQLException {
        DriverManager.registerDriver(driver);
    }

    @AfterEach
    void deregister() throws SQLException {
        DriverManager.deregisterDriver(driver);
    }

    private static Connections pool() {
        return Connections.pool(URL, Dialect.H2, 3, TimeSource.system(), "refused");
    }

    private static Deadline soon() {
        return Deadline.after(TimeSource.system(), LONG);
    }

    /** A pool that pauses ever longer repeats what it heard seconds ago. */
    @ParameterizedTest
    @EnumSource
    void isAskedAnewByEveryRequest(Purpose purpose) throws SQLException {
        try (Connections connections = pool()) {
            int heardOf = 0;
            for (int request = 0; request < 15; request++) {
                SQLException refused =
                        catchThrowableOfType(SQLException.class, () -> connections.open(purpose, soon()));
                int attempt = Integer.parseInt(refused.getMessage().replaceFirst(".*attempt ", ""));
                assertThat(attempt).as("of request %s", request).isGreaterThan(heardOf);
                heardOf = attempt;
            }

            driver.isBack = true;
            try {
                connections.open(purpose, soon()).close();
            } catch (SQLException e) {
                // It heard of an attempt that was under way.
                connections.open(purpose, soon()).close();
            }
        }
    }

    @Test
    void leavesNoConnectionOpenThatComesAfterClosing() throws Exception {
        driver.isBack = true;
        driver.pace = new CountDownLatch(1);
        Connections connections = pool();
        await().atMost(LONG).until(() -> driver.attempts.get() > 0);

        connections.close();
        driver.pace.countDown();

        await().atMost(LONG).until(() -> driver.opened.get() != null);
        await().atMost(LONG).until(() -> driver.opened.get().isClosed());
    }

    /** Says the number of the attempt when it refuses. */
    private static final class RefusingDriver implements Driver {

        private final AtomicInteger attempts = new AtomicInteger();
        private final AtomicReference<Connection> opened = new AtomicReference<>();
        private volatile boolean isBack;
        private volatile CountDownLatch pace = new CountDownLatch(0);

        @Override
        public Connection connect(String url, Properties info) throws SQLException {
            if (!acceptsURL(url)) {
                return null;
            }
            int attempt = attempts.incrementAndGet();
            try {
                pace.await();
            } catch (InterruptedException e) {
                throw new SQLException(e);
            }
            if (!isBack) {
                throw new SQLException("attempt " + attempt);
            }
            Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
            opened.set(connection);
            return connection;
        }

        @Override
        public boolean acceptsURL(String url) {
            return url.equals(URL);
        }

        @Override
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
            return new DriverPropertyInfo[0];
        }

        @Override
        public int getMajorVersion() {
            return 1;
        }

        @Override
        public int getMinorVersion() {
            return 0;
        }

        @Override
        public boolean jdbcCompliant() {
            return false;
        }

        @Override
        public Logger getParentLogger() {
            return Logger.getGlobal();
        }
    }
}
