package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.LeaseLostException;
import io.holdfast.testing.TestLocks;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

@DisplayName("@Locked and transactions")
class TransactionsTest {

    private final TestLocks locks = TestLocks.create();
    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    private Stock stock;
    private JdbcTemplate database;

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    @EnableTransactionManagement(proxyTargetClass = true)
    static class Application {

        @Bean
        DataSource dataSource() {
            JdbcDataSource h2 = new JdbcDataSource();
            h2.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
            return h2;
        }

        @Bean
        JdbcTransactionManager transactions(DataSource source) {
            return new JdbcTransactionManager(source);
        }

        @Bean
        TransactionTemplate template(JdbcTransactionManager transactions) {
            return new TransactionTemplate(transactions);
        }

        @Bean
        JdbcTemplate database(DataSource source) {
            return new JdbcTemplate(source);
        }
    }

    static class Stock {

        private final TestLocks locks;
        private final JdbcTemplate database;
        private final List<String> held = new CopyOnWriteArrayList<>();

        Stock(TestLocks locks, JdbcTemplate database) {
            this.locks = locks;
            this.database = database;
        }

        public List<String> held() {
            return held;
        }

        @Locked("stock")
        @Transactional
        public void deduct() {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCommit(boolean readOnly) {
                    note("before commit");
                }

                @Override
                public void afterCompletion(int status) {
                    note("after completion");
                }
            });
            database.update("INSERT INTO sold VALUES (1)");
        }

        @Locked(name = "stock", onLost = OnLost.THROW_AFTER)
        @Transactional
        public void deductAndLose() {
            database.update("INSERT INTO sold VALUES (1)");
            locks.lose("stock");
        }

        @Locked("stock")
        public void deductInCallersTransaction() {
            database.update("INSERT INTO sold VALUES (1)");
        }

        @Locked("stock")
        public CompletableFuture<Boolean> laterInTransaction() {
            return CompletableFuture.completedFuture(TransactionSynchronizationManager.isActualTransactionActive());
        }

        private void note(String when) {
            held.add(when + ": " + (locks.holdfast().lock("stock").inspect().isHeld() ? "held" : "free"));
        }
    }

    @BeforeEach
    void start() {
        context.registerBean(Holdfast.class, locks::holdfast, definition -> definition.setDestroyMethodName(""));
        context.registerBean(TestLocks.class, () -> locks, definition -> definition.setDestroyMethodName(""));
        context.register(Application.class);
        context.registerBean(Stock.class);
        context.refresh();
        stock = context.getBean(Stock.class);
        database = context.getBean("database", JdbcTemplate.class);
        database.execute("CREATE TABLE sold (id INT)");
    }

    @AfterEach
    void end() {
        context.close();
        // Losses are told by another thread.
        await().untilAsserted(() -> assertThat(locks.openLeases()).isEmpty());
        locks.close();
    }

    private int sold() {
        return database.queryForObject("SELECT count(*) FROM sold", Integer.class);
    }

    @Test
    void theLockIsHeldUntilTheMethodsTransactionHasEnded() {
        stock.deduct();

        assertThat(stock.held()).containsExactly("before commit: held", "after completion: held");
        assertThat(sold()).isEqualTo(1);
        assertThat(locks.openLeases()).isEmpty();
    }

    @Test
    void aLeaseLostBeforeTheCommitRollsBack() {
        assertThatThrownBy(() -> stock.deductAndLose()).isInstanceOf(LeaseLostException.class);

        assertThat(sold()).isZero();
    }

    @Test
    void inATransactionThatIsOpenAlreadyTheLockIsReleasedAfterItsEnd() {
        context.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
            stock.deductInCallersTransaction();

            assertThat(locks.holdfast().lock("stock").inspect().isHeld()).isTrue();
        });

        assertThat(sold()).isEqualTo(1);
        assertThat(locks.holdfast().lock("stock").inspect().isHeld()).isFalse();
    }

    @Test
    void aLeaseLostBetweenTheMethodAndTheCommitOfItsCallerRollsBack() {
        assertThatThrownBy(() -> context.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
                    stock.deductInCallersTransaction();
                    locks.lose("stock");
                }))
                .isInstanceOf(LeaseLostException.class);

        assertThat(sold()).isZero();
    }

    @Test
    void oneTransactionMayTakeTheSameLockTwice() {
        CompletableFuture<Void> twice = CompletableFuture.runAsync(
                () -> context.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
                    stock.deductInCallersTransaction();
                    stock.deductInCallersTransaction();
                }));

        assertThat(twice).succeedsWithin(Duration.ofSeconds(10));
        assertThat(sold()).isEqualTo(2);
        assertThat(locks.holdfast().statistics().granted()).isEqualTo(1);
        assertThat(locks.holdfast().lock("stock").inspect().isHeld()).isFalse();
        stock.deduct();
        assertThat(locks.holdfast().statistics().granted()).isEqualTo(2);
    }

    @Test
    void afterTheCommitALockIsHeldUntilTheCallbacksAreOver() {
        context.getBean(TransactionTemplate.class)
                .executeWithoutResult(status ->
                        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                            @Override
                            public void afterCommit() {
                                stock.deductInCallersTransaction();
                            }
                        }));

        assertThat(locks.openLeases()).isEmpty();
        assertThat(locks.holdfast().statistics().granted()).isEqualTo(1);
    }

    @Test
    void aStageNeverRunsInsideItsCallersTransactionWhichEndsAfterItsLock() {
        for (int i = 0; i < 500; i++) {
            CompletableFuture<Boolean> inside =
                    context.getBean(TransactionTemplate.class).execute(status -> stock.laterInTransaction());

            assertThat(inside).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(false);
        }
    }

    @Test
    void aRollbackReleasesTheLockToo() {
        context.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
            stock.deductInCallersTransaction();
            status.setRollbackOnly();
        });

        assertThat(sold()).isZero();
        assertThat(locks.holdfast().lock("stock").inspect().isHeld()).isFalse();
    }
}
