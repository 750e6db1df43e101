package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testing.TestLocks;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("meters")
class HoldfastMetricsTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final TestLocks locks = TestLocks.create(builder -> builder.observer(HoldfastMetrics.of(registry)));
    private final Holdfast holdfast = locks.holdfast();

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void anAcquisitionIsTimedByLockDemandAndOutcome() {
        holdfast.lock("stock/sku-1").tryRun(() -> {});
        holdfast.lock("stock/sku-2").tryRun(() -> {});
        holdfast.readWriteLock("stock/sku-3").readLock().tryRun(() -> {});
        holdfast.semaphore("pool", 3).tryRun(() -> {});
        locks.takenByOther("stock/sku-4");
        holdfast.lock("stock/sku-4").tryRun(() -> {});

        assertThat(acquisitions("stock", "exclusive", "granted")).isEqualTo(2);
        assertThat(acquisitions("stock", "shared", "granted")).isEqualTo(1);
        assertThat(acquisitions("pool", "permits", "granted")).isEqualTo(1);
        assertThat(acquisitions("stock", "exclusive", "taken")).isEqualTo(1);
    }

    private long acquisitions(String lock, String demand, String outcome) {
        return registry.get("holdfast.lock.acquire")
                .tags("lock", lock, "demand", demand, "outcome", outcome, "store", "memory")
                .timer()
                .count();
    }

    @Test
    void theTimeALockWasHeldIsTimed() {
        try (Lease lease = holdfast.lock("stock/1").tryAcquire().orElseThrow()) {
            locks.advance(Duration.ofMinutes(1));
            assertThat(registry.get("holdfast.lock.held").gauge().value()).isEqualTo(1);
            assertThat(lease.isValid()).isTrue();
        }

        assertThat(registry.get("holdfast.lock.hold")
                        .tags("lock", "stock", "outcome", "released")
                        .timer()
                        .totalTime(TimeUnit.SECONDS))
                .isBetween(60.0, 70.0);
        assertThat(registry.get("holdfast.lock.held").gauge().value()).isZero();
        assertThat(registry.get("holdfast.lease.renewal")
                        .tag("outcome", "renewed")
                        .counter()
                        .count())
                .as(
                        "a ttl of 30 s does not reach a minute with fewer; how many more there are depends on when each is answered")
                .isGreaterThanOrEqualTo(2);
    }

    @Test
    void whoWaitsIsSeen() throws Exception {
        TestLocks.OtherHolder other = locks.takenByOther("stock");
        var waiting = holdfast.lock("stock").acquireAsync();

        await().untilAsserted(() -> assertThat(
                        registry.get("holdfast.lock.waiting").gauge().value())
                .isEqualTo(1));
        other.release();
        waiting.get(10, TimeUnit.SECONDS).close();

        assertThat(registry.get("holdfast.lock.waiting").gauge().value()).isZero();
    }

    @Test
    void aLossIsCountedByItsReason() {
        try (Lease lease = holdfast.lock("stock").tryAcquire().orElseThrow()) {
            locks.lose(lease);
        }

        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(registry.get("holdfast.lock.lost")
                                .tags("lock", "stock", "reason", "gone")
                                .counter()
                                .count())
                        .isEqualTo(1));
        assertThat(registry.get("holdfast.lock.hold")
                        .tag("outcome", "lost")
                        .timer()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void failingRenewalsShowInTheShareThatIsLeftAndInTheRequests() {
        try (Lease lease = holdfast.lock("stock").tryAcquire().orElseThrow()) {
            assertThat(registry.get("holdfast.lease.remaining").gauge().value()).isGreaterThan(0.9);

            locks.storeDown();
            locks.advance(Duration.ofSeconds(20));

            assertThat(registry.get("holdfast.lease.remaining").gauge().value()).isBetween(0.1, 0.4);
            await().ignoreExceptions().untilAsserted(() -> {
                assertThat(registry.get("holdfast.lease.renewal")
                                .tag("outcome", "failed")
                                .counter()
                                .count())
                        .isPositive();
                assertThat(registry.get("holdfast.store.request")
                                .tags("operation", "renew", "outcome", "failed")
                                .timer()
                                .count())
                        .isPositive();
            });
            assertThatThrownBy(() -> holdfast.lock("more").tryAcquire()).isInstanceOf(StoreUnavailableException.class);
            assertThat(acquisitions("more", "exclusive", "failed")).isEqualTo(1);
            locks.storeUp();
            assertThat(lease.isValid()).isTrue();
        }
        assertThat(registry.get("holdfast.lease.remaining").gauge().value()).isEqualTo(1);
    }

    @Test
    void moreThanAHundredLocksCountAsOther() {
        for (int i = 0; i < 150; i++) {
            holdfast.lock("lock-" + i).tryRun(() -> {});
        }

        assertThat(registry.find("holdfast.lock.acquire").timers()).hasSize(101);
        assertThat(acquisitions("other", "exclusive", "granted")).isEqualTo(50);
        assertThat(acquisitions("lock-0", "exclusive", "granted")).isEqualTo(1);
    }

    @Test
    void allMetersGoWithTheirClientAndThoseOfOthersStay() {
        registry.counter("mine").increment();
        holdfast.lock("stock").tryRun(() -> {});
        assertThat(registry.getMeters()).hasSizeGreaterThan(5);

        holdfast.lock("lost-with-the-client").tryAcquire().orElseThrow();
        holdfast.close();

        await().untilAsserted(() -> assertThat(locks.openLeases()).isEmpty());
        assertThat(registry.getMeters())
                .extracting(Meter::getId)
                .extracting(Meter.Id::getName)
                .containsExactly("mine");
    }

    @Test
    void aKnownTemplateIsTheTagAndTheFunctionIsForTheOthers() {
        SimpleMeterRegistry own = new SimpleMeterRegistry();
        HoldfastMetrics metrics = HoldfastMetrics.builder(own)
                .lockTemplates(lock -> lock.startsWith("stock/") ? Optional.of("stock/{sku}") : Optional.empty())
                .lockTag(lock -> "plain")
                .build();
        try (TestLocks observed = TestLocks.create(builder -> builder.observer(metrics))) {
            observed.holdfast().lock("stock/1").tryRun(() -> {});
            observed.holdfast().lock("stock/2").tryRun(() -> {});
            observed.holdfast().lock("orders/1").tryRun(() -> {});

            assertThat(own.get("holdfast.lock.hold")
                            .tag("lock", "stock/{sku}")
                            .timer()
                            .count())
                    .isEqualTo(2);
            assertThat(own.get("holdfast.lock.hold")
                            .tag("lock", "plain")
                            .timer()
                            .count())
                    .isEqualTo(1);
        }
    }

    @Test
    void tagsAndHistogramsCanBeChosen() {
        SimpleMeterRegistry chosen = new SimpleMeterRegistry();
        HoldfastMetrics metrics = HoldfastMetrics.builder(chosen)
                .lockTag(name -> name.toUpperCase(java.util.Locale.ROOT))
                .storeTag("orders")
                .withHistograms()
                .build();
        try (TestLocks others = TestLocks.create(builder -> builder.observer(metrics))) {
            others.holdfast().lock("stock/1").tryRun(() -> {});

            assertThat(chosen.get("holdfast.lock.acquire")
                            .tags("lock", "STOCK/1", "store", "orders")
                            .timer()
                            .count())
                    .isEqualTo(1);
            assertThatThrownBy(() -> metrics.connected(holdfast)).isInstanceOf(IllegalStateException.class);
        }
    }
}
