package io.holdfast.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.Loss;
import io.holdfast.LossReason;
import io.holdfast.Renewal;
import io.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("locks for users' tests")
class TestLocksTest {

    @Test
    void aLockTakenByAnotherIsRefusedUntilItIsReleased() {
        try (TestLocks locks = TestLocks.create()) {
            TestLocks.OtherHolder other = locks.takenByOther("stock");

            assertThat(locks.holdfast().lock("stock").tryAcquire()).isEmpty();
            other.release();

            assertThat(locks.holdfast().lock("stock").tryRun(() -> {})).isTrue();
        }
    }

    @Test
    void whatTheTestedClientHoldsCannotBeTakenByAnother() {
        try (TestLocks locks = TestLocks.create();
                Lease lease = locks.holdfast().lock("stock").tryAcquire().orElseThrow()) {
            assertThatThrownBy(() -> locks.takenByOther("stock"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("'stock'");
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void anHourPassesInAMomentAndLeasesOfBothClientsAreRenewedOnTheWay() {
        try (TestLocks locks = TestLocks.create();
                Lease lease = locks.holdfast().lock("mine").tryAcquire().orElseThrow()) {
            locks.takenByOther("theirs");
            long before = System.nanoTime();

            locks.advance(Duration.ofHours(1));

            assertThat(lease.isValid()).isTrue();
            assertThat(locks.holdfast().lock("theirs").tryAcquire()).isEmpty();
            assertThat(locks.holdfast().statistics().renewed()).isGreaterThan(300);
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(30));
        }
    }

    @Test
    void aLeaseThatIsNotRenewedExpiresWhenItsTimeHasPassed() {
        try (TestLocks locks = TestLocks.create()) {
            LockOptions once = LockOptions.defaults().withRenewal(Renewal.NONE);
            Lease lease = locks.holdfast().lock("fixed", once).tryAcquire().orElseThrow();

            locks.advance(Duration.ofSeconds(25));
            assertThat(lease.isValid()).isTrue();
            locks.advance(Duration.ofSeconds(6));

            assertThat(lease.isValid()).isFalse();
            locks.takenByOther("fixed");
            await().untilAsserted(() -> assertThat(locks.openLeases()).isEmpty());
        }
    }

    @Test
    void aWaitEndsWhenTheClockHasMovedPastItsLimit() {
        try (TestLocks locks = TestLocks.create()) {
            TestLocks.OtherHolder other = locks.takenByOther("stock");
            CompletableFuture<Optional<Lease>> waiting = CompletableFuture.supplyAsync(() -> {
                try {
                    return locks.holdfast().lock("stock").tryAcquire(Duration.ofHours(1));
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            locks.awaitWaiting(1);

            locks.advance(Duration.ofMinutes(59));
            assertThat(waiting).isNotDone();
            locks.advance(Duration.ofMinutes(2));

            assertThat(waiting).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(Optional.empty());
            assertThat(other.isHeld()).isTrue();
        }
    }

    @Test
    void aLostLeaseIsInvalidAtOnceAndItsHolderIsTold() {
        try (TestLocks locks = TestLocks.create()) {
            Lease lease = locks.holdfast().lock("stock").tryAcquire().orElseThrow();
            AtomicReference<Loss> told = new AtomicReference<>();
            lease.onLost(told::set);

            locks.lose(lease);

            assertThat(lease.isValid()).isFalse();
            await().untilAsserted(() -> assertThat(told.get()).isNotNull());
            assertThat(told.get().reason()).isEqualTo(LossReason.GONE);
            assertThat(locks.takenByOther("stock").token()).isGreaterThan(lease.token());
            assertThatThrownBy(() -> locks.lose(lease)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> locks.lose("stock")).isInstanceOf(IllegalStateException.class);
            await().untilAsserted(() -> assertThat(locks.openLeases()).isEmpty());
        }
    }

    @Test
    void aLeaseIsNotOpenFromTheMomentItIsLostWhoeverIsToldLater() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        // All callbacks wait, those of whoever counts open leases too.
        try (TestLocks locks = TestLocks.create(builder -> builder.executor(callback -> new Thread(() -> {
                    try {
                        told.await();
                        callback.run();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                })
                .start()))) {
            locks.holdfast().lock("a").tryAcquire().orElseThrow();
            locks.lose("a");

            assertThat(locks.openLeases()).isEmpty();
            told.countDown();
        }
    }

    @Test
    void onlyTheLeaseNamedIsLost() {
        try (TestLocks locks = TestLocks.create()) {
            var readers = locks.holdfast().readWriteLock("stock").readLock();
            try (Lease kept = readers.tryAcquire().orElseThrow();
                    Lease lost = readers.tryAcquire().orElseThrow()) {
                locks.lose(lost);

                assertThat(lost.isValid()).isFalse();
                assertThat(kept.isValid()).isTrue();
            }
            await().untilAsserted(() -> assertThat(locks.openLeases()).isEmpty());
        }
    }

    @Test
    void whileTheStoreIsDownNothingIsAcquiredAndLeasesEndWithTheirTtl() {
        try (TestLocks locks = TestLocks.create()) {
            Lease lease = locks.holdfast().lock("held").tryAcquire().orElseThrow();

            locks.storeDown();

            assertThatThrownBy(() -> locks.holdfast().lock("stock").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("the test took the store down");
            assertThatThrownBy(() -> locks.holdfast().ping(Duration.ofSeconds(1)))
                    .isInstanceOf(StoreUnavailableException.class);
            locks.advance(Duration.ofSeconds(10));
            assertThat(lease.isValid()).isTrue();
            locks.advance(Duration.ofSeconds(25));
            assertThat(lease.isValid()).isFalse();

            locks.storeUp();
            assertThat(locks.holdfast().lock("stock").tryRun(() -> {})).isTrue();
            await().untilAsserted(() -> assertThat(locks.openLeases()).isEmpty());
        }
    }

    @Test
    void aLeaseLeftOpenFailsTheTestAndSaysWhereItWasAcquired() {
        TestLocks locks = TestLocks.create();
        locks.holdfast().lock("forgotten").tryAcquire().orElseThrow();

        assertThatThrownBy(locks::close)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("'forgotten'")
                .hasMessageContaining("TestLocksTest.java:");
    }

    @Test
    void testsDoNotMeet() {
        try (TestLocks one = TestLocks.create();
                TestLocks two = TestLocks.create();
                Lease lease = one.holdfast().lock("same").tryAcquire().orElseThrow()) {
            assertThat(two.holdfast().lock("same").tryRun(() -> {})).isTrue();
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void theTestedClientCanBeSetUp() {
        LockOptions defaults = LockOptions.defaults().withTtl(Duration.ofSeconds(7));
        try (TestLocks locks = TestLocks.create(builder -> builder.name("shop").defaults(defaults))) {
            Holdfast holdfast = locks.holdfast();

            assertThat(holdfast.name()).isEqualTo("shop");
            assertThat(holdfast.lock("stock").options()).isEqualTo(defaults);
        }
    }
}
