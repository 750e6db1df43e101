package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.testing.TestLocks;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.MapPropertySource;

@DisplayName("@Locked")
class LockedTest {

    private final TestLocks locks = TestLocks.create();
    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    private Shop shop;
    private Shop target;

    record Order(@Nullable String sku) {}

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    static class Locking {}

    static class Prices {
        public String region() {
            return "north";
        }
    }

    static class Shop {

        private final TestLocks locks;
        private final Inner inner;
        final AtomicBoolean ran = new AtomicBoolean();
        final CountDownLatch started = new CountDownLatch(1);
        final CompletableFuture<String> reply = new CompletableFuture<>();

        Shop(TestLocks locks, Inner inner) {
            this.locks = locks;
            this.inner = inner;
        }

        @Locked(name = "stock/#{#order.sku}")
        public long deduct(Order order, @Nullable Lease lease) {
            assertThat(lease).isNotNull();
            assertThat(lease.name()).isEqualTo("stock/" + order.sku());
            assertThat(CurrentLease.token()).isEqualTo(lease.token());
            assertThat(CurrentLease.require()).isSameAs(lease);
            assertThat(locks.holdfast().lock(lease.name()).inspect().isHeld()).isTrue();
            return lease.token();
        }

        @Locked("prices/#{@prices.region()}/${shop.zone}")
        public String name() {
            return CurrentLease.require().name();
        }

        @Locked("stock/#{'sku-' + #order.sku}")
        public void added(Order order) {
            ran.set(true);
        }

        @Locked(
                name = {"from/#{#from}", "to/#{#to}"},
                maxWait = "0")
        public void transfer(String from, String to) {
            assertThat(locks.holdfast().lock("from/" + from).tryAcquire()).isEmpty();
            assertThat(locks.holdfast().lock("to/" + to).tryAcquire()).isEmpty();
        }

        @Locked(name = "busy", maxWait = "20ms")
        public void throwing() {
            ran.set(true);
        }

        @Locked(name = "busy", maxWait = "0", onConflict = OnConflict.SKIP)
        public Optional<String> skipping() {
            return Optional.of("ran");
        }

        @Locked(name = "busy", maxWait = "0", onConflict = OnConflict.FALLBACK, fallback = "instead")
        public String falling(String what, @Nullable Lease lease) {
            return "ran";
        }

        String instead(String what, LockConflictException conflict) {
            return "instead of " + what + ": " + conflict.lockNames();
        }

        @Locked("lost")
        public void interrupted() throws InterruptedException {
            locks.lose("lost");
            new CountDownLatch(1).await();
        }

        @Locked(name = "lost", onLost = OnLost.THROW_AFTER)
        public void toldAfter() {
            locks.lose("lost");
            ran.set(true);
        }

        @Locked(name = "lost", onLost = OnLost.IGNORE)
        public String notTold() {
            locks.lose("lost");
            return "done";
        }

        @Locked("same")
        public long outer() {
            long token = CurrentLease.token();
            assertThat(inner.again()).isEqualTo(token);
            assertThat(locks.holdfast().lock("same").tryAcquire()).isEmpty();
            return token;
        }

        @Locked(name = "same", mode = Locked.Mode.SHARED)
        public void shared() {
            try (Lease other = locks.holdfast()
                    .readWriteLock("same")
                    .readLock()
                    .tryAcquire()
                    .orElseThrow()) {
                assertThat(other.isValid()).isTrue();
            }
            inner.again();
        }

        @Locked(name = "pool", permits = 2, of = 3)
        public void permits() {
            assertThat(locks.holdfast().semaphore("pool", 3).permits(2).tryAcquire())
                    .isEmpty();
            assertThat(locks.holdfast().semaphore("pool", 3).tryRun(() -> {})).isTrue();
        }

        @Locked(name = "async", maxWait = "0")
        public CompletableFuture<String> async() {
            assertThat(CurrentLease.require().name()).isEqualTo("async");
            started.countDown();
            return reply;
        }

        @Locked("forever")
        public CompletableFuture<String> waitsForever() {
            ran.set(true);
            return reply;
        }

        @Locked({"z", "same"})
        public void outerOfSeveral(@Nullable Lease lease) {
            assertThat(lease.name()).as("the one that is named first").isEqualTo("z");
            assertThat(CurrentLease.require()).isSameAs(lease);
            assertThat(inner.name(null)).isEqualTo("same");
            assertThat(inner.both(null)).isEqualTo("same");
            locks.lose("same");
            assertThat(lease.isValid()).isTrue();
            assertThatThrownBy(CurrentLease::require).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(() -> inner.both(null)).isInstanceOf(LeaseLostException.class);
        }

        @Locked("z")
        public void outerOfTwoAcquisitions() {
            inner.outerOfBoth();
        }

        @Locked(name = "same", permits = 2, of = 3)
        public void outerOfPermits(int permits) {
            switch (permits) {
                case 1 -> inner.onePermit();
                case 3 -> inner.threePermits();
                default -> inner.again();
            }
        }

        @Locked("same")
        public CompletableFuture<String> outerOfStage() {
            return inner.stage();
        }

        @Locked("same")
        public void startsAStageAndReturns() {
            inner.stage();
        }

        @Locked(name = "busy", maxWait = "0", onConflict = OnConflict.SKIP)
        public CompletionStage<Optional<String>> skippingStage() {
            return CompletableFuture.completedFuture(Optional.of("ran"));
        }

        @Locked(name = "busy", maxWait = "0", onConflict = OnConflict.SKIP)
        public OptionalInt skippingInt() {
            return OptionalInt.of(1);
        }

        @Locked("stock/#{#what}")
        public String any(Object what) {
            return CurrentLease.require().name();
        }

        @Locked(name = "longest", maxHold = "1m", ttl = "10s")
        public void tooLong() {
            assertThat(CurrentLease.require().remaining()).isLessThan(Duration.ofSeconds(10));
            locks.advance(Duration.ofMinutes(2));
        }
    }

    static class Inner {
        final CompletableFuture<String> reply = new CompletableFuture<>();

        @Locked("same")
        public CompletableFuture<String> stage() {
            assertThat(CurrentLease.require().name()).isEqualTo("same");
            return reply;
        }

        public CompletableFuture<String> reply() {
            return reply;
        }

        @Locked("same")
        public String name(@Nullable Lease lease) {
            assertThat(CurrentLease.token()).isEqualTo(lease.token());
            return lease.name();
        }

        @Locked({"same", "z"})
        public String both(@Nullable Lease lease) {
            return lease.name();
        }

        @Lazy
        @Autowired
        Inner self;

        @Locked("same")
        public String outerOfBoth() {
            return self.both(null);
        }

        @Locked(name = "same", permits = 1, of = 3)
        public void onePermit() {}

        @Locked(name = "same", permits = 3, of = 3)
        public void threePermits() {}

        @Locked("same")
        public long again() {
            return CurrentLease.token();
        }
    }

    @BeforeEach
    void start() {
        context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource("test", Map.of("shop.zone", "zone-1")));
        context.registerBean(Holdfast.class, locks::holdfast, definition -> definition.setDestroyMethodName(""));
        context.registerBean("prices", Prices.class);
        context.registerBean(Inner.class);
        context.registerBean(TestLocks.class, () -> locks, definition -> definition.setDestroyMethodName(""));
        context.registerBean(Shop.class);
        context.register(Locking.class);
        context.refresh();
        shop = context.getBean(Shop.class);
        target = (Shop) Objects.requireNonNull(AopProxyUtils.getSingletonTarget(shop));
    }

    @AfterEach
    void end() {
        context.close();
        await().untilAsserted(() -> assertThat(locks.openLeases()).isEmpty());
        locks.close();
    }

    @Test
    void theMethodRunsUnderALockNamedByItsParametersAndGetsTheLease() {
        long first = shop.deduct(new Order("42"), null);

        assertThat(shop.deduct(new Order("42"), null)).isGreaterThan(first);
        assertThat(locks.openLeases()).isEmpty();
        assertThat(CurrentLease.lease()).isEmpty();
    }

    @Test
    void aNameMayAskOtherBeansAndProperties() {
        assertThat(shop.name()).isEqualTo("prices/north/zone-1");
    }

    @Test
    void aNullInANameIsAnErrorAndNothingIsLocked() {
        assertThatThrownBy(() -> shop.deduct(new Order(null), null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'stock/#{#order.sku}'")
                .hasMessageContaining("#order.sku is null");
        assertThatThrownBy(() -> shop.added(new Order(null)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("#order.sku is null");
        assertThatThrownBy(() -> shop.deduct(null, null))
                .as("a null on the way to the value")
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("The name 'stock/#{#order.sku}' of the lock on Shop.deduct cannot be made: ")
                .hasMessageEndingWith("Nothing was locked and the method did not run.");
        assertThat(target.ran).isFalse();
        assertThat(locks.holdfast().statistics().granted()).isZero();
    }

    @Test
    void severalNamesAreTakenTogetherOrNotAtAll() {
        shop.transfer("a", "b");
        locks.takenByOther("to/c");

        assertThatThrownBy(() -> shop.transfer("a", "c")).isInstanceOf(LockConflictException.class);
        assertThat(locks.holdfast().lock("from/a").tryRun(() -> {})).isTrue();
    }

    @Test
    void aConflictThrowsSkipsOrFallsBack() {
        TestLocks.OtherHolder other = locks.takenByOther("busy");

        assertThatThrownBy(() -> shop.throwing())
                .isInstanceOf(LockConflictException.class)
                .hasMessage("Lock 'busy' was taken by others for 20 ms, so Shop.throwing did not run.");
        assertThat(target.ran).isFalse();
        assertThat(shop.skipping()).isEmpty();
        assertThat(shop.falling("this", null)).isEqualTo("instead of this: [busy]");

        other.release();
        // The queue is left in the background by the call that gave up.
        await().untilAsserted(() -> assertThat(shop.skipping()).contains("ran"));
        assertThat(shop.falling("this", null)).isEqualTo("ran");
    }

    @Test
    void aLossInterruptsTheMethodAndTheCallSaysWhy() {
        assertThatThrownBy(() -> shop.interrupted())
                .isInstanceOf(LeaseLostException.class)
                .satisfies(e -> assertThat(e.getSuppressed()).hasOnlyElementsOfType(InterruptedException.class));
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void aLossIsToldAfterTheMethodOrNeverAsAskedFor() {
        assertThatThrownBy(() -> shop.toldAfter()).isInstanceOf(LeaseLostException.class);
        assertThat(target.ran).isTrue();
        assertThat(shop.notTold()).isEqualTo("done");
    }

    @Test
    void aMethodInsideAnotherWithTheSameLockGoesOnUnderItsLease() {
        shop.outer();

        assertThat(locks.holdfast().statistics().granted()).isEqualTo(1);
    }

    @Test
    void aSharedHolderIsToldThatItCannotHaveTheLockAlone() {
        assertThatThrownBy(() -> shop.shared())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("would wait for itself");
    }

    @Test
    void permitsAreTakenOfATotal() {
        shop.permits();
    }

    @Test
    void aStageHoldsTheLockUntilItHasCompleted() throws Exception {
        CompletableFuture<String> result = shop.async();
        assertThat(target.started.await(10, TimeUnit.SECONDS)).isTrue();

        assertThat(locks.holdfast().lock("async").tryAcquire()).isEmpty();
        assertThat(shop.async())
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableThat()
                .withCauseInstanceOf(LockConflictException.class);
        target.reply.complete("done");

        assertThat(result).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("done");
        assertThat(locks.holdfast().lock("async").tryRun(() -> {})).isTrue();
    }

    @Test
    void aLossCancelsAStage() throws Exception {
        CompletableFuture<String> result = shop.async();
        assertThat(target.started.await(10, TimeUnit.SECONDS)).isTrue();

        locks.lose("async");

        assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(LeaseLostException.class);
        assertThat(target.reply).isCancelled();
    }

    @Test
    void cancellingAStageCancelsTheWorkAndReleasesTheLock() throws Exception {
        CompletableFuture<String> result = shop.async();
        assertThat(target.started.await(10, TimeUnit.SECONDS)).isTrue();

        result.cancel(true);

        await().untilAsserted(() -> assertThat(target.reply).isCancelled());
        await().untilAsserted(() -> assertThat(locks.openLeases()).isEmpty());
    }

    @Test
    void cancellingAStageThatWaitsWithoutALimitLeavesTheQueue() {
        TestLocks.OtherHolder other = locks.takenByOther("forever");
        CompletableFuture<String> result = shop.waitsForever();
        locks.awaitWaiting(1);

        result.cancel(true);

        locks.awaitWaiting(0);
        other.release();
        await().untilAsserted(() ->
                assertThat(locks.holdfast().lock("forever").tryRun(() -> {})).isTrue());
        assertThat(target.ran).isFalse();
    }

    @Test
    void aMethodInsideOneWithSeveralLocksGetsTheLeaseOfItsOwn() {
        assertThatThrownBy(() -> shop.outerOfSeveral(null)).isInstanceOf(LeaseLostException.class);
        assertThat(locks.holdfast().statistics().granted()).isEqualTo(2);
    }

    @Test
    void severalLocksMayComeOfSeveralOuterMethods() {
        shop.outerOfTwoAcquisitions();

        assertThat(locks.holdfast().statistics().granted()).isEqualTo(2);
        assertThat(locks.openLeases()).isEmpty();
    }

    @Test
    void aHolderOfPermitsIsToldThatItHasNeitherMoreOfThemNorTheLockAlone() {
        shop.outerOfPermits(1);
        assertThatThrownBy(() -> shop.outerOfPermits(3))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("holds lock 'same' already, but 2 of 3 permits")
                .hasMessageContaining("Inner.threePermits needs it 3 of 3 permits");
        assertThatThrownBy(() -> shop.outerOfPermits(0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Inner.again needs it exclusive");
    }

    @Test
    void aStageInsideAnotherMethodKeepsItsLockBeyondThatMethodsEnd() {
        shop.startsAStageAndReturns();

        assertThat(locks.holdfast().lock("same").tryAcquire()).isEmpty();
        context.getBean(Inner.class).reply().complete("done");
        await().untilAsserted(() -> assertThat(locks.openLeases()).isEmpty());
        assertThat(locks.holdfast().statistics().granted()).isEqualTo(1);
    }

    @Test
    void aLossCancelsTheStageOfAnInnerMethodToo() {
        CompletableFuture<String> result = shop.outerOfStage();
        await().untilAsserted(() -> assertThat(locks.openLeases()).hasSize(1));

        locks.lose("same");

        assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(LeaseLostException.class);
        assertThat(context.getBean(Inner.class).reply()).isCancelled();
    }

    @Test
    void whatIsSkippedIsEmptyAsItsTypeSays() {
        locks.takenByOther("busy");

        assertThat(shop.skippingInt()).isEmpty();
        assertThat(shop.skippingStage()).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(Optional.empty());
    }

    @Test
    void anObjectWithoutATextOfItsOwnIsNoName() {
        assertThat(shop.any(new StringBuilder("42"))).isEqualTo("stock/42");
        assertThat(shop.any(List.of(1, 2))).isEqualTo("stock/1,2");
        assertThatThrownBy(() -> shop.any(new Object() {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(", of which none can be made. Name one of its properties.");
        assertThatThrownBy(() -> shop.any(Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("#what is null");
    }

    @Test
    void optionsReachTheLock() {
        assertThatThrownBy(() -> shop.tooLong()).isInstanceOf(LeaseLostException.class);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void outsideOfALockedMethodThereIsNoLease() {
        assertThatThrownBy(CurrentLease::require)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("through its bean");
    }
}
