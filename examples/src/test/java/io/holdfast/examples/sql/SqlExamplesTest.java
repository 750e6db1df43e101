package io.holdfast.examples.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.Holdfast;
import io.holdfast.jdbc.Idempotency;
import io.holdfast.jdbc.JdbcIdempotency;
import io.holdfast.jdbc.JdbcStores;
import io.holdfast.jdbc.RecipeSchema;
import io.holdfast.servers.MariaDbServer;
import io.holdfast.servers.PostgresServer;
import io.holdfast.servers.Server;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

class SqlExamplesTest {

    @Nested
    class OnMariaDb extends Examples {
        @Override
        Server start() {
            return MariaDbServer.start();
        }

        @Override
        String url(Server server) {
            return ((MariaDbServer) server).jdbcUrl();
        }
    }

    @Nested
    class OnPostgres extends Examples {
        @Override
        Server start() {
            return PostgresServer.start();
        }

        @Override
        String url(Server server) {
            return ((PostgresServer) server).jdbcUrl();
        }
    }

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Examples {

        private final HikariDataSource database = new HikariDataSource();
        private Server server;
        private Holdfast holdfast;

        abstract Server start();

        abstract String url(Server server);

        @BeforeAll
        void open() throws Exception {
            server = start();
            database.setJdbcUrl(url(server));
            database.setMaximumPoolSize(20);
            RecipeSchema.create(database);
            StockTable.create(database);
            DuplicateOrder.createTable(database);
            holdfast = Holdfast.builder()
                    .store(JdbcStores.using(database).withSchemaCreated())
                    .connect();
        }

        @AfterAll
        void close() {
            holdfast.close();
            database.close();
            server.close();
        }

        @Test
        void stockUnderALeaseLockIsNeverOversold() throws Exception {
            sellsOut(new StockWithLeaseLock(holdfast, database), "lease");
        }

        @Test
        void stockUnderATransactionLockIsNeverOversold() throws Exception {
            sellsOut(new StockWithTransactionLock(database), "transaction");
        }

        @Test
        void stockUnderAVersionGuardIsNeverOversold() throws Exception {
            sellsOut(new StockWithVersionGuard(database), "version");
        }

        private void sellsOut(Shop shop, String sku) throws Exception {
            StockTable.put(database, sku, 15);

            assertThat(SellOut.sellToEverybody(shop, sku, 40)).isEqualTo(15);

            try (Connection connection = database.getConnection()) {
                assertThat(StockTable.pieces(connection, sku)).isZero();
            }
        }

        @Test
        void anOrderSubmittedTwiceIsOneOrder() throws Exception {
            DuplicateOrder orders = new DuplicateOrder(JdbcIdempotency.on(holdfast, database));
            Set<String> numbers = atOnce(8, () -> orders.submit("form-1", "two pizzas"));

            assertThat(numbers).hasSize(1);
            assertThat(count("orders")).isEqualTo(1);
            assertThatThrownBy(() -> orders.submit("form-1", "three pizzas"))
                    .isInstanceOf(Idempotency.PayloadConflictException.class);
        }

        @Test
        void aPaymentDeliveredTwiceIsChargedOnce() throws Exception {
            AtomicInteger charges = new AtomicInteger();
            DuplicatePayment payments = new DuplicatePayment(
                    JdbcIdempotency.on(holdfast, database),
                    (key, cents) -> "receipt " + charges.incrementAndGet() + " for " + cents);

            assertThat(atOnce(8, () -> payments.pay("p-1", 250))).containsExactly("receipt 1 for 250");
            assertThat(payments.pay("p-1", 250)).isEqualTo("receipt 1 for 250");
            assertThatThrownBy(() -> payments.pay("p-1", 300)).isInstanceOf(Idempotency.PayloadConflictException.class);
            assertThat(charges).hasValue(1);
        }

        /** The different results of doing the same several times at once. */
        private static Set<String> atOnce(int times, Callable<String> action) throws Exception {
            ExecutorService threads = Executors.newFixedThreadPool(times);
            try {
                Set<String> results = new HashSet<>();
                for (Future<String> one : threads.invokeAll(Collections.nCopies(times, action), 1, TimeUnit.MINUTES)) {
                    results.add(one.get());
                }
                return results;
            } finally {
                threads.shutdownNow();
            }
        }

        private int count(String table) throws Exception {
            try (Connection connection = database.getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM " + table)) {
                row.next();
                return row.getInt(1);
            }
        }
    }
}
