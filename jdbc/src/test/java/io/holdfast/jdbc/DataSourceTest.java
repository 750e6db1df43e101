package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.jdbc.HeldTicket.Told;
import io.holdfast.jdbc.dialect.Dialect;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A store on the user's DataSource")
class DataSourceTest extends RecipeTest {

    private static Holdfast client(DataSource dataSource) {
        return Holdfast.builder()
                .store(JdbcStores.using(dataSource).withSchemaCreated())
                .connect();
    }

    /** Counts with a lock around a read and a write that are not atomic by themselves. */
    private void countRight(Database database, List<Holdfast> clients, int threads, int rounds) throws Exception {
        String id = newCounter(database, 0);
        String name = Database.unique("count");
        AtomicInteger started = new AtomicInteger();
        Callable<Void> counting = () -> {
            DistributedLock lock =
                    clients.get(started.getAndIncrement() % clients.size()).lock(name);
            for (int i = 0; i < rounds; i++) {
                try (Lease lease = lock.acquire();
                        Connection connection = pool(database).getConnection()) {
                    write(connection, id, read(connection, id) + 1);
                }
            }
            return null;
        };
        inThreads(threads, counting);
        assertThat(amount(database, id)).isEqualTo(threads * rounds);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void worksWithAutocommitOffAndSerializableAsDefaults(Database database) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.url());
        config.setMaximumPoolSize(8);
        config.setAutoCommit(false);
        config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
        try (HikariDataSource odd = new HikariDataSource(config)) {
            try (Holdfast client = client(odd);
                    Holdfast other = client(odd)) {
                countRight(database, List.of(client, other), 4, 10);
                String shared = Database.unique("rw");
                try (Lease one = client.readWriteLock(shared).readLock().acquire();
                        Lease two = other.readWriteLock(shared).readLock().acquire()) {
                    assertThat(other.readWriteLock(shared).writeLock().tryAcquire())
                            .isEmpty();
                }
                String permits = Database.unique("s");
                try (Lease one = client.semaphore(permits, 2).acquire();
                        Lease two = other.semaphore(permits, 2).acquire()) {
                    assertThat(client.semaphore(permits, 2).tryAcquire()).isEmpty();
                }
            }
            try (Connection connection = odd.getConnection()) {
                assertThat(connection.getAutoCommit()).isFalse();
                assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
            }
        }
    }

    /** What a transaction of ours may take before the server ends it is no limit for the user's. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void leavesTheLimitsOfTransactionsAsTheyWere(Database database) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.url());
        config.setMaximumPoolSize(1);
        boolean postgres = database.dialect() == Dialect.POSTGRESQL;
        config.setConnectionInitSql(
                postgres
                        ? "SET idle_in_transaction_session_timeout = 77000"
                        : "SET SESSION idle_transaction_timeout = 77, SESSION innodb_lock_wait_timeout = 78");
        try (HikariDataSource single = new HikariDataSource(config)) {
            try (Holdfast client = client(single);
                    Lease shared = client.readWriteLock(Database.unique("limits"))
                            .readLock()
                            .acquire()) {
                shared.extend(Duration.ofMinutes(1));
            }
            try (Connection connection = single.getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(
                            postgres
                                    ? "SELECT current_setting('idle_in_transaction_session_timeout')"
                                    : "SELECT CONCAT(@@idle_transaction_timeout, ' ', @@innodb_lock_wait_timeout)")) {
                row.next();
                assertThat(row.getString(1)).isEqualTo(postgres ? "77s" : "77 78");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "POSTGRESQL"})
    void withOneConnectionServesAHundredThreadsAndKeepsRenewing(Database database) throws Exception {
        try (HikariDataSource single = database.pool(1);
                Holdfast client = client(single)) {
            Duration ttl = Duration.ofSeconds(5);
            LockOptions brief = LockOptions.defaults().withTtl(ttl);
            try (Lease kept = client.lock(Database.unique("kept"), brief).acquire()) {
                long end = System.nanoTime() + ttl.multipliedBy(3).dividedBy(2).toNanos();
                inThreads(100, () -> {
                    DistributedLock own = client.lock(Database.unique("own"));
                    do {
                        try (Lease lease = own.acquire()) {
                            assertThat(lease.isValid()).isTrue();
                        }
                    } while (System.nanoTime() < end);
                    return null;
                });
                assertThat(kept.isValid()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "POSTGRESQL"})
    void extensionsTakeTurns(Database database) throws Exception {
        AtomicInteger most = new AtomicInteger();
        try (HikariDataSource pool = database.pool(30);
                Holdfast client = client(TroubledDataSource.around(pool, new TroubledDataSource.Trouble() {
                    @Override
                    public void before(String sql) {
                        most.accumulateAndGet(pool.getHikariPoolMXBean().getActiveConnections(), Math::max);
                    }
                }))) {
            inThreads(60, () -> {
                try (Lease lease = client.lock(Database.unique("extended")).acquire()) {
                    for (int i = 0; i < 20; i++) {
                        lease.extend(Duration.ofMinutes(1));
                    }
                }
                return null;
            });
        }
        assertThat(most.get())
                .as("connections at a time: four for requests, one for renewals")
                .isLessThanOrEqualTo(5);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void neverTouchesTheCallersTransaction(Database database) throws Exception {
        String id = newCounter(database, 1);
        try (Holdfast client = client(pool(database));
                Connection callers = begin(database)) {
            write(callers, id, 2);

            String name = Database.unique("inside");
            Lease lease = client.lock(name).acquire();

            assertThat(amount(database, id)).as("not committed by us").isEqualTo(1);
            callers.rollback();
            assertThat(lease.isValid()).isTrue();
            assertThat(client.lock(name).tryAcquire())
                    .as("not rolled back with the caller")
                    .isEmpty();
            lease.release();
        }
    }

    @ParameterizedTest
    @EnumSource(names = "POSTGRESQL")
    void refusesOneThatHandsOutTheCallersTransaction(Database database) {
        assertRefused(JdbcStores::using);
    }

    @ParameterizedTest
    @EnumSource(names = "POSTGRESQL")
    @DisplayName("a recipe that commits refuses one that hands out the caller's transaction")
    void recipesRefuseOneThatHandsOutTheCallersTransaction(Database database) {
        try (Holdfast holdfast = client(pool(database))) {
            assertRefused(dataSource -> JdbcIdempotency.on(holdfast, dataSource));
        }
        VersionGuard guard = VersionGuard.of("counter", "id", "version");
        assertRefused(dataSource -> guard.retrying(dataSource, "any", 1, transaction -> "changed"));
        assertRefused(RecipeSchema::create);
    }

    private interface Use {
        void of(DataSource dataSource) throws Exception;
    }

    private static void assertRefused(Use use) {
        class TransactionAwareDataSourceProxy extends HikariDataSource {}

        assertThatThrownBy(() -> use.of(new TransactionAwareDataSourceProxy()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the DataSource behind it");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void givesConnectionsBackAsTheyWere(Database database) throws Exception {
        try (Connection only = database.connect()) {
            only.setNetworkTimeout(Runnable::run, 12_345);
            only.setAutoCommit(false);
            only.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);

            try (OpenStore client = new OpenStore(JdbcStores.using(new OneConnection(only))
                    .withSchemaCreated()
                    .withConnections(1))) {
                String name = Database.unique("back");
                client.release(client.hold(name));
                client.release(client.hold(name, Demand.shared()));
            }

            assertThat(only.getNetworkTimeout()).isEqualTo(12_345);
            assertThat(only.getAutoCommit()).isFalse();
            assertThat(only.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void losesNeitherGrantsNorConnectionsWhenOneStumblesAtTheEnd(Database database) {
        try (StumblingPool pool = new StumblingPool(database, "isClosed")) {
            try (OpenStore client =
                    new OpenStore(JdbcStores.using(pool).withSchemaCreated().withConnections(1))) {
                for (int i = 0; i < 3; i++) {
                    HeldTicket grant = client.hold(Database.unique("stumbles"), Demand.shared());
                    assertThat(client.renew(grant, grant.ticket.ttl())).isEqualTo(Told.KEPT);
                }
            }

            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void losesNoConnectionThatStumblesAtTheBeginning(Database database) {
        try (StumblingPool pool = new StumblingPool(database, "getNetworkTimeout");
                OpenStore client =
                        new OpenStore(JdbcStores.using(pool).withSchemaCreated().withConnections(1))) {
            assertThatThrownBy(() -> client.hold(Database.unique("stumbles"))).hasMessageContaining("stumbled");

            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        }
    }

    /** The answer to come, or a late cancel, would hit whoever has the connection next. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void lendsNoConnectionAgainWhoseStatementHadNoAnswer(Database database) throws Exception {
        AtomicBoolean silent = new AtomicBoolean();
        try (HikariDataSource single = database.pool(1)) {
            DataSource troubled = TroubledDataSource.around(single, new TroubledDataSource.Trouble() {
                @Override
                public void after(String sql) throws SQLException {
                    if (silent.compareAndSet(true, false)) {
                        throw new SQLTimeoutException("no answer");
                    }
                }
            });
            try (OpenStore client =
                    new OpenStore(JdbcStores.using(troubled).withSchemaCreated().withConnections(1))) {
                HeldTicket grant = client.hold(Database.unique("silent"));
                long before = session(database, single);

                silent.set(true);
                assertThatThrownBy(() -> client.release(grant)).isInstanceOf(UnknownOutcomeException.class);

                assertThat(session(database, single)).isNotEqualTo(before);
            }
        }
    }

    private static long session(Database database, DataSource source) throws SQLException {
        String question =
                database.dialect() == Dialect.POSTGRESQL ? "SELECT pg_backend_pid()" : "SELECT CONNECTION_ID()";
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(question)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Its connections throw what they should not, whenever a certain method is called. */
    private static final class StumblingPool extends HikariDataSource {

        private final String stumblesAt;

        StumblingPool(Database database, String stumblesAt) {
            this.stumblesAt = stumblesAt;
            setJdbcUrl(database.url());
            setMaximumPoolSize(2);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection real = super.getConnection();
            return proxy(real, method -> {
                if (method.equals(stumblesAt)) {
                    throw new IllegalStateException("stumbled");
                }
                return false;
            });
        }
    }

    /** A pool of one that puts nothing right by itself. */
    private static final class OneConnection extends HikariDataSource {

        private final Connection only;

        OneConnection(Connection only) {
            this.only = only;
        }

        @Override
        public Connection getConnection() {
            return proxy(only, method -> method.equals("close"));
        }
    }

    /** @param isLeftOut told of each method by name before it is called */
    private static Connection proxy(Connection real, Predicate<String> isLeftOut) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, values) -> {
                    if (isLeftOut.test(method.getName())) {
                        return null;
                    }
                    try {
                        return method.invoke(real, values);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
