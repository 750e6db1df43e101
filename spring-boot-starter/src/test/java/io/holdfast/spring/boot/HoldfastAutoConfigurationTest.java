package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Election;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.Loss;
import io.holdfast.ReleaseResult;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.LockObserver;
import io.holdfast.spring.CurrentLease;
import io.holdfast.spring.LockMisuseException;
import io.holdfast.spring.Locked;
import io.holdfast.testing.TestLocks;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.tracing.test.simple.SimpleTracer;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

@DisplayName("auto-configuration")
class HoldfastAutoConfigurationTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    HoldfastAutoConfiguration.class,
                    HoldfastMetricsAutoConfiguration.class,
                    HoldfastHealthAutoConfiguration.class,
                    HoldfastEndpointAutoConfiguration.class));
    private final ApplicationContextRunner memory = runner.withPropertyValues("holdfast.store=memory:");

    static class Shop {
        @Locked("stock/#{#sku}")
        public String buy(String sku) {
            return CurrentLease.require().name();
        }
    }

    static class Broken {
        @Locked("stock/#{#skew}")
        public void buy(String sku) {}
    }

    @Test
    void anAddressIsEnoughForLocksByAnnotation() {
        memory.withBean(Shop.class).run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(Holdfast.class);
            assertThat(context.getBean(Shop.class).buy("42")).isEqualTo("stock/42");
        });
    }

    @Test
    void propertiesReachTheClient() {
        memory.withPropertyValues("holdfast.name=shop-1", "holdfast.defaults.ttl=7s", "holdfast.defaults.max-hold=1m")
                .run(context -> {
                    Holdfast client = context.getBean(Holdfast.class);
                    assertThat(client.name()).isEqualTo("shop-1");
                    assertThat(client.lock("a").options().ttl()).isEqualTo(Duration.ofSeconds(7));
                    assertThat(client.lock("a").options().maxHold()).contains(Duration.ofMinutes(1));
                });
    }

    @Test
    void localHandoffIsSetByProperties() {
        memory.withPropertyValues("holdfast.local-handoff.most=0", "holdfast.local-handoff.longest=5m")
                .run(context -> assertThat(handedOverBy(context.getBean(Holdfast.class)))
                        .isZero());
        memory.withPropertyValues("holdfast.local-handoff.most=1", "holdfast.local-handoff.longest=5m")
                .run(context -> assertThat(handedOverBy(context.getBean(Holdfast.class)))
                        .isEqualTo(1));
    }

    /** How often a lock is handed on when one waits for it inside the client. */
    private static long handedOverBy(Holdfast client) throws InterruptedException {
        Lease first = client.lock("a").acquire();
        CompletableFuture<Lease> second = client.lock("a").acquireAsync();
        await().until(() -> client.statistics().waiting() == 1);
        first.release();
        second.join().release();
        return client.statistics().handedOver();
    }

    @Test
    void aCustomizerHasTheLastWord() {
        memory.withBean(HoldfastBuilderCustomizer.class, () -> (client, builder) -> builder.name("custom-" + client))
                .run(context ->
                        assertThat(context.getBean(Holdfast.class).name()).isEqualTo("custom-holdfast"));
    }

    @Test
    void severalClientsAreBeansOfTheirOwn() {
        memory.withPropertyValues(
                        "holdfast.clients.orders.store=memory:orders", "holdfast.clients.orders.name=orders-1")
                .run(context -> {
                    assertThat(context.getBean("orders", Holdfast.class).name()).isEqualTo("orders-1");
                    assertThat(context.getBeansOfType(Holdfast.class)).containsOnlyKeys("holdfast", "orders");
                    assertThat(context.getBean(Holdfast.class)).isSameAs(context.getBean("holdfast"));
                });
    }

    static class OrderBook {
        @Locked(name = "book", client = "orders")
        public void add(Runnable work) {
            work.run();
        }
    }

    @Test
    void anAnnotationNamesItsClient() {
        memory.withPropertyValues("holdfast.clients.orders.store=memory:orders-of-annotation")
                .withBean(OrderBook.class)
                .run(context -> context.getBean(OrderBook.class).add(() -> {
                    assertThat(context.getBean("orders", Holdfast.class)
                                    .lock("book")
                                    .inspect()
                                    .isHeld())
                            .isTrue();
                    assertThat(context.getBean("holdfast", Holdfast.class)
                                    .lock("book")
                                    .inspect()
                                    .isHeld())
                            .isFalse();
                }));
    }

    @Test
    void whereAllClientsAreNamedThereIsNoOther() {
        runner.withPropertyValues(
                        "holdfast.clients.orders.store=memory:orders", "holdfast.clients.stock.store=memory:stock")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBeansOfType(Holdfast.class)).containsOnlyKeys("orders", "stock");
                });
        runner.withPropertyValues(
                        "holdfast.clients.orders.store=memory:orders", "holdfast.clients.stock.store=memory:stock")
                .withBean(Shop.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .isInstanceOf(LockMisuseException.class)
                        .hasMessageContaining("does not say which of several clients to use: [orders, stock]"));
        runner.withPropertyValues("holdfast.clients.orders.store=memory:orders")
                .withBean(Shop.class)
                .run(context ->
                        assertThat(context.getBean(Shop.class).buy("42")).isEqualTo("stock/42"));
    }

    @Test
    void theOnlyDataSourceIsTheStoreAlsoIfItIsH2() {
        JdbcDataSource h2 = new JdbcDataSource();
        h2.setURL("jdbc:h2:mem:locks;DB_CLOSE_DELAY=-1");
        runner.withPropertyValues("holdfast.jdbc.initialize-schema=true")
                .withBean(DataSource.class, () -> h2)
                .withBean(Shop.class)
                .run(context ->
                        assertThat(context.getBean(Shop.class).buy("42")).isEqualTo("stock/42"));
    }

    @Test
    void anAddressThatNobodyServesIsExplained() {
        runner.withPropertyValues("holdfast.clients.orders.store=mongodb://localhost", "holdfast.store=memory:")
                .run(context -> {
                    FailureAnalysis analysis = new LockFailureAnalyzers.NoStore().analyze(context.getStartupFailure());
                    assertThat(analysis.getDescription())
                            .startsWith("The client 'orders' cannot be made: no store serves mongodb://localhost");
                    assertThat(analysis.getAction()).startsWith("Correct holdfast.clients.orders.store");
                });
    }

    @Test
    void theSettingsAreDescribedForEditors() throws Exception {
        try (InputStream metadata = getClass().getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            assertThat(new String(metadata.readAllBytes(), StandardCharsets.UTF_8))
                    .contains(
                            "\"holdfast.store\"",
                            "\"holdfast.request-timeout\"",
                            "\"holdfast.defaults.ttl\"",
                            "\"holdfast.local-handoff.most\"",
                            "\"holdfast.jdbc.initialize-schema\"",
                            "\"holdfast.locked.order\"",
                            "\"holdfast.clients\"",
                            "\"holdfast.tracing.waited-at-least\"",
                            "Address of the lock store");
        }
    }

    @Test
    void aClientOfTheUsersIsLeftAlone() {
        TestLocks locks = TestLocks.create();
        runner.withBean(Holdfast.class, locks::holdfast).withBean(Shop.class).run(context -> {
            assertThat(context.getBean(Holdfast.class)).isSameAs(locks.holdfast());
            assertThat(context.getBean(Shop.class).buy("42")).isEqualTo("stock/42");
        });
        locks.close();
    }

    @Test
    void withoutAStoreTheApplicationDoesNotStartAndFilesAreNeverTakenSilently() {
        runner.run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = new LockFailureAnalyzers.NoStore().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription()).startsWith("The client 'holdfast' has no lock store");
            assertThat(analysis.getAction()).startsWith("Set holdfast.store");
        });
    }

    @Test
    void misuseIsExplained() {
        memory.withBean(Broken.class).run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure()).isInstanceOf(LockMisuseException.class);
            FailureAnalysis analysis = new LockFailureAnalyzers.Misuse().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription()).contains("Broken.buy").contains("#skew");
            assertThat(analysis.getAction()).isEqualTo("Correct the expression between #{ and }.");
        });
    }

    @Test
    void theApplicationStartsWhileItsStoreIsDownAndHealthSaysSo() {
        TestLocks locks = TestLocks.create();
        locks.storeDown();
        runner.withBean(Holdfast.class, locks::holdfast).run(context -> {
            assertThat(context).hasNotFailed();
            Health health = ((HealthIndicator) context.getBean("holdfastHealthContributor")).health();
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(health.getDetails()).containsEntry("store", "memory").containsKey("error");
        });
        locks.close();
    }

    @Test
    void healthAsksTheStore() {
        memory.run(context -> {
            Health health = ((HealthIndicator) context.getBean("holdfastHealthContributor")).health();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails()).containsOnlyKeys("store");
        });
        memory.withPropertyValues("management.health.holdfast.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean("holdfastHealthContributor"));
    }

    @Test
    void healthAsksOnceAndForASecondAtMost() {
        List<Object> asked = new ArrayList<>();
        Holdfast client = (Holdfast) Proxy.newProxyInstance(
                Holdfast.class.getClassLoader(), new Class<?>[] {Holdfast.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("ping")) {
                        asked.add(arguments[0]);
                    }
                    return method.getReturnType() == String.class ? "a store" : null;
                });

        assertThat(new HoldfastHealthIndicator(client).health().getStatus()).isEqualTo(Status.UP);

        assertThat(asked).containsExactly(Duration.ofSeconds(1));
    }

    @Test
    void metersAreRegisteredWithTheApplicationsRegistry() {
        memory.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(Shop.class)
                .run(context -> {
                    context.getBean(Shop.class).buy("42");

                    assertThat(context.getBean(MeterRegistry.class)
                                    .get("holdfast.lock.acquire")
                                    .tags("lock", "stock/{sku}", "outcome", "granted")
                                    .timer()
                                    .count())
                            .isEqualTo(1);
                });
    }

    @Test
    void theTagOfLocksThatNoAnnotationNamesIsTheUsersToChoose() {
        memory.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(Shop.class)
                .withBean(
                        HoldfastMetricsCustomizer.class,
                        () -> (client, metrics) ->
                                metrics.lockTag(lock -> "by hand").storeTag(client))
                .run(context -> {
                    context.getBean(Shop.class).buy("42");
                    context.getBean(Holdfast.class).lock("orders/7").tryRun(() -> {});

                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    assertThat(registry.get("holdfast.lock.hold")
                                    .tags("lock", "by hand", "store", "holdfast")
                                    .timer()
                                    .count())
                            .isEqualTo(1);
                    assertThat(registry.get("holdfast.lock.hold")
                                    .tags("lock", "stock/{sku}")
                                    .timer()
                                    .count())
                            .isEqualTo(1);
                });
    }

    @Test
    void acquisitionsThatFailedAreSpansOfTheApplicationsTracer() {
        memory.withPropertyValues("holdfast.tracing.waited-at-least=1m")
                .withBean(SimpleTracer.class)
                .run(context -> {
                    Holdfast client = context.getBean(Holdfast.class);
                    try (Lease lease = client.lock("a").tryAcquire().orElseThrow()) {
                        assertThat(lease.isValid()).isTrue();
                        assertThat(client.lock("a").tryAcquire()).isEmpty();
                    }

                    assertThat(context.getBean(SimpleTracer.class).onlySpan().getTags())
                            .containsEntry("holdfast.lock", "a")
                            .containsEntry("holdfast.outcome", "taken");
                });
    }

    @Test
    void withoutMicrometerAndActuatorTheRestWorks() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withPropertyValues("holdfast.store=memory:")
                .withClassLoader(new FilteredClassLoader(
                        "io.micrometer.core",
                        "io.holdfast.micrometer",
                        "org.springframework.boot.actuate",
                        "org.springframework.boot.health",
                        "org.springframework.boot.data.redis"))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(Holdfast.class).lock("a").tryRun(() -> {}))
                            .isTrue();
                });
    }

    @Test
    void theEndpointShowsWhatThisInstanceHoldsAndWhatTheStoreSees() {
        memory.withPropertyValues(
                        "management.endpoints.web.exposure.include=*", "management.endpoints.jmx.exposure.include=*")
                .run(context -> {
                    HoldfastEndpoint endpoint = context.getBean(HoldfastEndpoint.class);
                    Holdfast client = context.getBean(Holdfast.class);
                    try (Lease lease = client.lock("stock/42").tryAcquire().orElseThrow()) {
                        LocalLeases.Entry entry = (LocalLeases.Entry)
                                endpoint.clients().get("holdfast").held().get(0);
                        assertThat(entry.lock()).isEqualTo("stock/42");
                        assertThat(entry.token()).contains(lease.token());
                        assertThat(endpoint.lock("holdfast", new String[] {"stock", "42"})
                                        .isHeld())
                                .isTrue();

                        assertThat(endpoint.release("holdfast", new String[] {"stock", "42"}))
                                .containsEntry("released", 1);
                        await().untilAsserted(() -> assertThat(lease.isValid()).isFalse());
                    }
                    await().untilAsserted(() -> assertThat(
                                    endpoint.clients().get("holdfast").held())
                            .isEmpty());
                    assertThat(endpoint.lock("unknown", new String[] {"a"})).isNull();
                    HoldfastEndpoint.Counts counts =
                            endpoint.clients().get("holdfast").counts();
                    assertThat(counts.acquired()).isEqualTo(1);
                    assertThat(counts.lost()).isEqualTo(1);
                    assertThat(counts.holdP99Millis()).isPresent();
                });
    }

    static class Worker {

        private final CountDownLatch begun = new CountDownLatch(1);
        private final List<String> seen = new CopyOnWriteArrayList<>();

        @Locked("work")
        public void work() throws InterruptedException {
            begun().countDown();
            // What an executor does while the application waits for it to end.
            new CountDownLatch(1).await(300, TimeUnit.MILLISECONDS);
            seen().add("valid " + CurrentLease.require().isValid());
        }

        public CountDownLatch begun() {
            return begun;
        }

        public List<String> seen() {
            return seen;
        }
    }

    @Test
    void aContextThatEndsInTheMiddleOfWorkLetsItFinishAndLeavesNothingHeld() {
        try (Holdfast other = Holdfast.connect("memory:shutdown-test")) {
            runner.withPropertyValues("holdfast.store=memory:shutdown-test")
                    .withBean(Worker.class)
                    .withBean(ThreadPoolTaskExecutor.class, () -> {
                        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
                        executor.setWaitForTasksToCompleteOnShutdown(true);
                        executor.setAwaitTerminationSeconds(10);
                        return executor;
                    })
                    .run(context -> {
                        Worker worker = context.getBean(Worker.class);
                        context.getBean(ThreadPoolTaskExecutor.class).submit(() -> {
                            worker.work();
                            return null;
                        });
                        assertThat(worker.begun().await(10, TimeUnit.SECONDS)).isTrue();
                        assertThat(other.lock("work").tryAcquire()).isEmpty();
                        Holdfast idle = context.getBean(Holdfast.class);
                        idle.lock("left-open").tryAcquire().orElseThrow();

                        context.getSourceApplicationContext().close();

                        assertThat(worker.seen()).containsExactly("valid true");
                        assertThat(other.locks("")).isEmpty();
                    });
        }
    }

    /** What a client tells of the ends of its leases. */
    static class Ends implements LockObserver {

        private final List<String> seen = new CopyOnWriteArrayList<>();

        @Override
        public void released(Acquisition acquisition, long token, ReleaseResult result, Duration held) {
            seen.add("released " + acquisition.lock());
        }

        @Override
        public void lost(Acquisition acquisition, Loss loss, Duration held) {
            seen.add("lost " + acquisition.lock());
        }

        @Override
        public void closed(Holdfast client) {
            seen.add("closed");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Reports {
        @Bean
        Election leader(Holdfast holdfast) {
            return holdfast.election("leader");
        }
    }

    @Test
    void leadersResignBeforeOtherLeasesEndAndTheClientIsClosed() {
        Ends ends = new Ends();
        List<Loss> deposed = new CopyOnWriteArrayList<>();
        memory.withBean(HoldfastBuilderCustomizer.class, () -> (client, builder) -> builder.observer(ends))
                .withUserConfiguration(Reports.class)
                .run(context -> {
                    Election election = context.getBean(Election.class);
                    election.onDeposed(deposed::add);
                    election.campaign();
                    context.getBean(Holdfast.class).lock("in use").tryAcquire().orElseThrow();

                    context.getSourceApplicationContext().close();

                    assertThat(ends.seen).startsWith("released leader").contains("closed");
                    assertThat(deposed).isEmpty();
                });
    }

    @Test
    void pingAtStartFailsWithTheNextStep() {
        runner.withPropertyValues("holdfast.store=file:/proc/none/such", "holdfast.ping=true")
                .run(context -> {
                    assertThat(context).hasFailed();
                });
        FailureAnalysis analysis =
                new LockFailureAnalyzers.StoreDown().analyze(new StoreUnavailableException("*", "connection refused"));
        assertThat(analysis.getAction()).contains("holdfast.ping=false");
    }
}
