package io.holdfast.examples.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.Holdfast;
import io.holdfast.Idempotency;
import io.holdfast.jdbc.JdbcIdempotency;
import io.holdfast.jdbc.JdbcStore;
import io.holdfast.jdbc.RecipeSchema;
import io.holdfast.servers.MariaDbServer;
import io.holdfast.servers.PostgresServer;
import io.holdfast.servers.Server;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
                    .store(JdbcStore.on(database).withSchemaCreated())
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
            Set<String> numbers = ConcurrentHashMap.newKeySet();
            ExecutorService threads = Executors.newFixedThreadPool(8);
            Set<Future<?>> all = new HashSet<>();
            for (int i = 0; i < 8; i++) {
                all.add(threads.submit(() -> numbers.add(orders.submit("form-1", "two pizzas"))));
            }
            for (Future<?> one : all) {
                one.get(1, TimeUnit.MINUTES);
            }
            threads.shutdown();

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

            assertThat(payments.pay("p-1", 250)).isEqualTo("receipt 1 for 250");
            assertThat(payments.pay("p-1", 250)).isEqualTo("receipt 1 for 250");
            assertThat(charges).hasValue(1);
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
