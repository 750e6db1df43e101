package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.LeaseLostException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.servers.RedisServer;
import io.holdfast.spring.Locked;
import io.holdfast.spring.ScheduledLock;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

@DisplayName("an application on a real Redis, found by its connection details")
class LockedOnRedisTest {

    private final RedisServer server = RedisServer.start();
    private final URI address = URI.create(server.uri());
    private final ApplicationContextRunner instance = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastHealthAutoConfiguration.class))
            .withBean(DataRedisConnectionDetails.class, () -> new DataRedisConnectionDetails() {
                @Override
                public Standalone getStandalone() {
                    return Standalone.of(address.getHost(), address.getPort());
                }
            })
            .withBean(Shop.class);

    private static final AtomicInteger INSIDE = new AtomicInteger();
    private static final AtomicInteger MOST_INSIDE = new AtomicInteger();
    private static final AtomicInteger RUNS = new AtomicInteger();
    private static volatile CountDownLatch begun = new CountDownLatch(1);

    static class Shop {

        @Locked("stock/#{#sku}")
        public boolean sell(String sku) {
            MOST_INSIDE.accumulateAndGet(INSIDE.incrementAndGet(), Math::max);
            Thread.yield();
            INSIDE.decrementAndGet();
            return true;
        }

        @Locked("long")
        public void workUntilInterrupted() throws InterruptedException {
            begun.countDown();
            new CountDownLatch(1).await();
        }

        @ScheduledLock(name = "nightly", minHold = "1m")
        public void nightly() {
            RUNS.incrementAndGet();
        }
    }

    @AfterEach
    void stopServer() {
        server.close();
    }

    @Test
    void instancesExcludeEachOther() {
        instance.run(one -> instance.run(two -> {
            assertThat(one).hasNotFailed();
            MOST_INSIDE.set(0);
            List<Callable<Boolean>> buyers = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                buyers.add(() -> one.getBean(Shop.class).sell("42"));
                buyers.add(() -> two.getBean(Shop.class).sell("42"));
            }
            ExecutorService crowd = Executors.newFixedThreadPool(8);
            for (Future<Boolean> bought : crowd.invokeAll(buyers, 60, TimeUnit.SECONDS)) {
                assertThat(bought.get()).isTrue();
            }
            crowd.shutdown();

            assertThat(MOST_INSIDE).hasValue(1);
        }));
    }

    @Test
    void aJobRunsOnOneInstanceEvenIfItIsShort() {
        instance.run(one -> instance.run(two -> {
            RUNS.set(0);
            one.getBean(Shop.class).nightly();
            two.getBean(Shop.class).nightly();

            assertThat(RUNS).hasValue(1);
        }));
    }

    @Test
    void whoLosesItsServerIsInterruptedAndTold() {
        instance.withPropertyValues("holdfast.defaults.ttl=2s").run(context -> {
            begun = new CountDownLatch(1);
            CompletableFuture<Throwable> end = new CompletableFuture<>();
            Thread worker = new Thread(() -> {
                try {
                    context.getBean(Shop.class).workUntilInterrupted();
                } catch (Throwable e) {
                    end.complete(e);
                }
            });
            worker.start();
            assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();

            server.close();

            assertThat(end).succeedsWithin(Duration.ofSeconds(30)).isInstanceOf(LeaseLostException.class);
        });
    }

    @Test
    void aContextThatEndsReleasesWhatIsHeld() {
        try (Holdfast other = Holdfast.connect(server.uri())) {
            instance.run(context -> {
                context.getBean(Holdfast.class).lock("left-open").tryAcquire().orElseThrow();
                assertThat(other.lock("left-open").tryAcquire()).isEmpty();

                context.getSourceApplicationContext().close();

                assertThat(other.lock("left-open").tryRun(() -> {})).isTrue();
            });
        }
    }

    @Test
    void anApplicationStartsWithoutItsServerUnlessToldToAsk() {
        server.close();

        instance.run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(((HealthIndicator) context.getBean("holdfastHealthContributor"))
                            .health()
                            .getStatus())
                    .isEqualTo(Status.DOWN);
            assertThatThrownBy(() -> context.getBean(Shop.class).nightly())
                    .isInstanceOf(StoreUnavailableException.class);
        });
        instance.withPropertyValues("holdfast.ping=true").run(context -> {
            assertThat(context).hasFailed();
            assertThat(new LockFailureAnalyzers.StoreDown()
                            .analyze(context.getStartupFailure())
                            .getAction())
                    .contains("holdfast.ping=false");
        });
    }
}
