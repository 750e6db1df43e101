package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.jdbc.Fence;
import io.holdfast.jdbc.RecipeSchema;
import io.holdfast.servers.PostgresServer;
import io.holdfast.spring.CurrentLease;
import io.holdfast.spring.Locked;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

@DisplayName("an application on its own PostgreSQL")
class StockOnPostgresTest {

    private static PostgresServer server;
    private static PGSimpleDataSource source;

    private final ApplicationContextRunner instance = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
            .withPropertyValues("holdfast.jdbc.initialize-schema=true", "holdfast.defaults.ttl=10s")
            .withUserConfiguration(Application.class);

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    static class Application {

        @Bean
        DataSource dataSource() {
            return source;
        }

        @Bean
        JdbcTemplate database(DataSource dataSource) {
            return new JdbcTemplate(dataSource);
        }

        @Bean
        JdbcTransactionManager transactions(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        Stock stock(JdbcTemplate database) {
            return new Stock(database);
        }
    }

    static class Stock {

        private final JdbcTemplate database;

        Stock(JdbcTemplate database) {
            this.database = database;
        }

        @Locked(name = "stock/#{#sku}", fence = true)
        @Transactional
        public boolean sell(String sku) {
            int left = database.queryForObject("SELECT pieces FROM stock WHERE sku = ?", Integer.class, sku);
            if (left == 0) {
                return false;
            }
            database.update("UPDATE stock SET pieces = ? WHERE sku = ?", left - 1, sku);
            database.update("INSERT INTO sold VALUES (?, ?)", sku, CurrentLease.token());
            return true;
        }

        @Lazy
        @Autowired
        Stock self;

        @Locked({"audit", "stock/#{#sku}"})
        public boolean sellAudited(String sku) {
            return self.sell(sku);
        }

        @Locked(name = "stock/#{#sku}", fence = true)
        public void sellWithoutTransaction(String sku) {}
    }

    @BeforeAll
    static void startServer() {
        server = PostgresServer.start();
        source = new PGSimpleDataSource();
        source.setUrl(server.jdbcUrl());
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void fill() throws SQLException {
        JdbcTemplate database = new JdbcTemplate(source);
        RecipeSchema.create(source);
        database.execute("DROP TABLE IF EXISTS stock, sold");
        database.execute("CREATE TABLE stock (sku text PRIMARY KEY, pieces int NOT NULL)");
        database.execute("CREATE TABLE sold (sku text, token bigint)");
        database.update("INSERT INTO stock VALUES ('42', 20)");
    }

    @Test
    void twoInstancesSellNoPieceTwice() {
        instance.run(one -> instance.run(two -> {
            assertThat(one).hasNotFailed();
            List<Callable<Boolean>> buyers = new ArrayList<>();
            for (int i = 0; i < 15; i++) {
                buyers.add(() -> one.getBean(Stock.class).sell("42"));
                buyers.add(() -> two.getBean(Stock.class).sell("42"));
            }
            ExecutorService crowd = Executors.newFixedThreadPool(6);
            int sold = 0;
            for (Future<Boolean> bought : crowd.invokeAll(buyers, 60, TimeUnit.SECONDS)) {
                sold += bought.get() ? 1 : 0;
            }
            crowd.shutdown();

            JdbcTemplate database = new JdbcTemplate(source);
            assertThat(sold).isEqualTo(20);
            assertThat(database.queryForObject("SELECT pieces FROM stock", Integer.class))
                    .isZero();
            assertThat(database.queryForObject("SELECT count(DISTINCT token) FROM sold", Integer.class))
                    .isEqualTo(20);
            assertThat(one.getBean(Holdfast.class).locks("stock/")).isEmpty();
        }));
    }

    @Test
    void aHolderWhoseTimeIsOverIsRefusedByTheFenceBeforeItReads() {
        instance.run(context -> {
            Stock stock = context.getBean(Stock.class);
            assertThat(stock.sell("42")).isTrue();
            new TransactionTemplate(context.getBean(JdbcTransactionManager.class))
                    .executeWithoutResult(status -> new JdbcTemplate(source)
                            .update(
                                    "UPDATE holdfast_fence SET token = ? WHERE resource = ?",
                                    Long.MAX_VALUE,
                                    "stock/42"));

            assertThatThrownBy(() -> stock.sell("42")).isInstanceOf(Fence.StaleTokenException.class);

            assertThat(new JdbcTemplate(source).queryForObject("SELECT pieces FROM stock", Integer.class))
                    .isEqualTo(19);
            assertThat(context.getBean(Holdfast.class)
                            .lock("stock/42")
                            .inspect()
                            .isHeld())
                    .isFalse();
            new JdbcTemplate(source).execute("DELETE FROM holdfast_fence");
        });
    }

    @Test
    void theFenceIsThatOfTheMethodsOwnLockAlsoInsideOfSeveral() {
        instance.run(context -> {
            assertThat(context.getBean(Stock.class).sellAudited("42")).isTrue();

            assertThat(new JdbcTemplate(source).queryForList("SELECT resource FROM holdfast_fence", String.class))
                    .containsExactly("stock/42");
            new JdbcTemplate(source).execute("DELETE FROM holdfast_fence");
        });
    }

    @Test
    void theTableIsCreatedForAnAddressTooIfAskedTo() {
        String address = server.jdbcUrl() + (server.jdbcUrl().contains("?") ? "&" : "?") + "table=by_address";
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withPropertyValues("holdfast.jdbc.initialize-schema=true", "holdfast.store=" + address)
                .run(context -> assertThat(
                                context.getBean(Holdfast.class).lock("a").tryRun(() -> {}))
                        .isTrue());
    }

    @Test
    void aFenceOutsideOfATransactionIsRefused() {
        instance.run(
                context -> assertThatThrownBy(() -> context.getBean(Stock.class).sellWithoutTransaction("42"))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("make it @Transactional"));
    }
}
