package io.holdfast.jdbc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.holdfast.StoreUnavailableException;
import io.holdfast.jdbc.connection.Connections.Purpose;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.TableName;
import io.holdfast.jdbc.row.Requests;
import io.holdfast.jdbc.row.Schema;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
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

    private static final StoreContext CONTEXT =
            new StoreContext("test", "test", TimeSource.system(), (nanos, task) -> () -> {}, Runnable::run);

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
        return Connections.pool(URL, Dialect.H2, 3, CONTEXT);
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
                SQLException refused = catchThrowableOfType(
                        SQLException.class, () -> connections.open(purpose, soon(), Duration.ZERO));
                int attempt = Integer.parseInt(refused.getMessage().replaceFirst(".*attempt ", ""));
                assertThat(attempt).as("of request %s", request).isGreaterThan(heardOf);
                heardOf = attempt;
            }

            driver.isBack = true;
            try {
                connections.open(purpose, soon(), Duration.ZERO).close();
            } catch (SQLException e) {
                // It heard of an attempt that was under way.
                connections.open(purpose, soon(), Duration.ZERO).close();
            }
        }
    }

    @Test
    void leavesNoConnectionOpenThatComesAfterClosing() throws Exception {
        driver.isBack = true;
        driver.pace = new CountDownLatch(1);
        Connections connections = pool();
        CompletableFuture<Session> waiting = opening(connections);
        await().atMost(LONG).until(() -> driver.attempts.get() > 0);

        connections.close();
        assertThat(waiting).failsWithin(LONG);
        driver.pace.countDown();

        await().atMost(LONG).until(() -> driver.opened.get() != null);
        await().atMost(LONG).until(() -> driver.opened.get().isClosed());
    }

    /** Packets are dropped, or a name server is silent: the driver waits for longer than anybody here. */
    @Test
    void holdsUpNobodyElseWhileATryToConnectHangs() throws Exception {
        driver.isBack = true;
        driver.pace = new CountDownLatch(1);
        try (Connections connections = pool()) {
            CompletableFuture<Session> first = opening(connections);
            await().atMost(LONG).until(() -> driver.attempts.get() > 0);
            driver.isHangingOnlyFor = driver.attempts.get();

            CompletableFuture<Session> second = opening(connections);

            first.get(LONG.toSeconds() / 2, TimeUnit.SECONDS).close();
            second.get(LONG.toSeconds() / 2, TimeUnit.SECONDS).close();
            assertThat(driver.pace.getCount()).as("the first try still hangs").isEqualTo(1);
        } finally {
            driver.pace.countDown();
        }
    }

    /** One connection serves all, who do not start a try each time they find it lent. */
    @Test
    void isNotAskedForMoreConnectionsThanThereAreTurns() throws Exception {
        driver.isBack = true;
        driver.pace = new CountDownLatch(1);
        driver.isHangingFrom = 2;
        StoreContext standing = new StoreContext(
                "test",
                "test",
                new TimeSource() {
                    @Override
                    public long nanoTime() {
                        return 0;
                    }

                    @Override
                    public void parkUntil(Object blocker, long untilNanos) {}
                },
                (nanos, task) -> () -> {},
                Runnable::run);
        int turns = 3;
        try (Connections connections = Connections.pool(URL, Dialect.H2, turns, standing)) {
            Deadline deadline = Deadline.after(standing.time(), LONG);
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < 2 * turns; i++) {
                all.add(CompletableFuture.runAsync(
                        () -> {
                            for (int request = 0; request < 200; request++) {
                                try {
                                    connections
                                            .open(Purpose.REQUEST, deadline, Duration.ZERO)
                                            .close();
                                } catch (SQLException e) {
                                    throw new IllegalStateException(e);
                                }
                            }
                        },
                        task -> new Thread(task).start()));
            }
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(LONG.toSeconds(), TimeUnit.SECONDS);

            assertThat(driver.attempts).hasValueLessThanOrEqualTo(turns);
        } finally {
            driver.pace.countDown();
        }
    }

    /** A few clients with all the connections they may have are more than a small server allows. */
    @Test
    void thatHasNoMoreConnectionsIsServedWithThoseThereAre() throws Exception {
        driver.isBack = true;
        try (Connections connections = pool()) {
            Session only = connections.open(Purpose.REQUEST, soon(), Duration.ZERO);
            driver.isFull = true;

            CompletableFuture<Session> second = opening(connections);
            await().atMost(LONG).until(() -> driver.attempts.get() > 1);
            only.close();

            second.get(LONG.toSeconds() / 2, TimeUnit.SECONDS).close();
        }
        try (Connections none = pool()) {
            assertThat(opening(none)).failsWithin(LONG).withThrowableThat().withMessageContaining("attempt");
        }
    }

    /** Its time is over, which says nothing of connections that were not asked. */
    @Test
    void losesNoConnectionByARequestWhoseTimeIsOver() throws Exception {
        driver.isBack = true;
        try (Connections connections = pool()) {
            openThree(connections).forEach(Session::close);
            connections.distrust(true);

            assertIsTold(connections, Duration.ZERO, "no time was left");

            openThree(connections).forEach(Session::close);
            assertThat(driver.attempts).hasValue(3);
        }
    }

    @Test
    void losesNoConnectionByARequestThatGotNone() throws Exception {
        driver.isBack = true;
        try (Connections connections = pool()) {
            List<Session> all = openThree(connections);

            assertIsTold(connections, Duration.ofMillis(50), "stayed busy");

            all.forEach(Session::close);
            openThree(connections).forEach(Session::close);
            assertThat(driver.attempts).hasValue(3);
        }
    }

    /** As behind a firewall that has forgotten them: what was open is silent, what is new is not. */
    @Test
    void givesTheNextRequestANewConnectionAfterAShortOneMetSilence() throws Exception {
        driver.isBack = true;
        try (Connections connections = pool()) {
            openThree(connections).forEach(Session::close);
            connections.distrust(true);
            driver.isSilentUpTo = 3;

            assertIsTold(connections, Duration.ofMillis(50), "no time was left");
            await().atMost(LONG).until(() -> driver.attempts.get() == 4);

            await().atMost(LONG).until(() -> answersWithin(connections, Duration.ofMillis(50)));
            assertThat(driver.attempts).as("and not one for each").hasValueLessThan(6);
        }
    }

    private static boolean answersWithin(Connections connections, Duration limit) {
        try (Session session =
                connections.open(Purpose.RENEWAL, Deadline.after(TimeSource.system(), limit), Duration.ZERO)) {
            return !session.query("SELECT 1", row -> true).isEmpty();
        } catch (SQLException e) {
            return false;
        }
    }

    private static void assertIsTold(Connections connections, Duration limit, String what) {
        Requests requests = new Requests(connections, new TableName("holdfast_lock"), Schema.Creation.NEVER);
        assertThatThrownBy(() ->
                        requests.run("orders", Deadline.after(TimeSource.system(), limit), (session, sql) -> session))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(what);
    }

    private static List<Session> openThree(Connections connections) throws SQLException {
        List<Session> sessions = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            sessions.add(connections.open(Purpose.REQUEST, soon(), Duration.ZERO));
        }
        return sessions;
    }

    private static CompletableFuture<Session> opening(Connections connections) {
        CompletableFuture<Session> opening = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                opening.complete(connections.open(Purpose.REQUEST, soon(), Duration.ZERO));
            } catch (SQLException e) {
                opening.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return opening;
    }

    /** Says the number of the attempt when it refuses. */
    private static final class RefusingDriver implements Driver {

        private final AtomicInteger attempts = new AtomicInteger();
        private final AtomicReference<Connection> opened = new AtomicReference<>();
        private volatile boolean isBack;
        private volatile boolean isFull;
        private volatile CountDownLatch pace = new CountDownLatch(0);
        private volatile int isHangingFrom = 1;
        private volatile int isHangingOnlyFor = Integer.MAX_VALUE;
        private volatile int isSilentUpTo;

        @Override
        public Connection connect(String url, Properties info) throws SQLException {
            if (!acceptsURL(url)) {
                return null;
            }
            int attempt = attempts.incrementAndGet();
            while (attempt >= isHangingFrom && attempt <= isHangingOnlyFor && pace.getCount() > 0) {
                // As deaf to interrupts as a socket.
                LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
                Thread.interrupted();
            }
            if (isFull) {
                throw new SQLException("attempt " + attempt, "53300");
            }
            if (!isBack) {
                throw new SQLException("attempt " + attempt);
            }
            Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
            opened.set(connection);
            return fallingSilent(connection, attempt);
        }

        private Connection fallingSilent(Connection connection, int attempt) {
            return (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("prepareStatement") && attempt <= isSilentUpTo) {
                            Thread.sleep(100);
                            throw new SQLException("read timed out", "08006");
                        }
                        return method.invoke(connection, arguments);
                    });
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
