package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("What a store or an executor should never throw")
@Timeout(60)
class UnexpectedFailuresTest {

    @Test
    @DisplayName("P4 a release that a bug in the store stops is repeated, and the lock can be had again")
    void releaseThatABugStopsIsRepeatedAndTheLockCanBeHadAgain() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            DistributedLock lock = client.lock("orders");
            Lease lease = lock.acquire();
            client.store.beforeRelease = () -> {
                client.store.beforeRelease = () -> {};
                throw new IllegalStateException("a bug in a driver");
            };

            assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);

            client.passUntil(Duration.ofMillis(100), () -> !client.isHeld("orders"));
            assertThat(lock.tryAcquire()).isPresent();
        }
    }

    @Test
    @DisplayName("P4 an error during a release does not bar this client from the lock")
    void errorDuringAReleaseDoesNotBarThisClientFromTheLock() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            DistributedLock lock = client.lock("orders");
            Lease lease = lock.acquire();
            client.store.beforeRelease = UnexpectedFailuresTest::missingClass;

            assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(lease::release);

            client.store.beforeRelease = () -> {};
            client.time.advance(TTL);
            assertThat(lock.tryAcquire()).isPresent();
        }
    }

    @Test
    @DisplayName("P4 an error during an acquisition does not bar this client from the lock")
    void errorDuringAnAcquisitionDoesNotBarThisClientFromTheLock() {
        try (ManualClient client = new ManualClient()) {
            DistributedLock lock = client.lock("orders");
            client.store.beforeAsk = UnexpectedFailuresTest::missingClass;

            assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(lock::acquire);

            client.store.beforeAsk = () -> {};
            assertThat(lock.tryAcquire()).isPresent();
        }
    }

    @Test
    @DisplayName("P7 a grant followed by an error is given back")
    void grantFollowedByAnErrorIsGivenBack() {
        try (ManualClient client = new ManualClient()) {
            client.store.afterAsk = request -> missingClass();

            assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(client.lock("orders")::acquire);

            await().until(() -> !client.isHeld("orders"));
        }
    }

    @Test
    @DisplayName("a lock that the store finds it cannot give is refused once and for all, with nothing to undo")
    void lockThatTheStoreFindsItCannotGiveIsRefusedOnceAndForAll() {
        ManualClient client = new ManualClient();
        try (client) {
            client.store.beforeAsk = () -> {
                throw new UnsupportedLockException("orders", "the server gives other ttls");
            };
            assertThatExceptionOfType(UnsupportedLockException.class).isThrownBy(client.lock("orders")::acquire);

            client.store.beforeAsk = () -> {};
            assertThat(client.lock("orders").tryAcquire()).map(Lease::release).contains(ReleaseResult.RELEASED);
        }
        // Taken and released: what was refused is not withdrawn.
        assertThat(client.store.requests).hasValue(2);
    }

    @Test
    @DisplayName("P5 an error on the timer's thread does not stop the clock")
    void errorOnTheTimersThreadDoesNotStopTheClock() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            StoreContext.Timer timer = client.store.context.timer();
            CountDownLatch failing = new CountDownLatch(1);
            CountDownLatch later = new CountDownLatch(1);
            timer.at(client.time.nanoTime(), () -> {
                failing.countDown();
                throw new OutOfMemoryError("unable to create native thread (simulated)");
            });
            assertThat(failing.await(10, TimeUnit.SECONDS)).isTrue();

            timer.at(client.time.nanoTime(), later::countDown);

            assertThat(later.await(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @DisplayName("P4 an error during a renewal is followed by another try")
    void errorDuringARenewalIsFollowedByAnotherTry() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            Lease lease = client.lock("orders").acquire();
            CountDownLatch failed = new CountDownLatch(1);
            client.store.beforeAnswer = () -> {
                client.store.beforeAnswer = () -> {};
                failed.countDown();
                missingClass();
            };
            client.time.advance(TTL.dividedBy(3));
            assertThat(failed.await(10, TimeUnit.SECONDS)).isTrue();

            client.passUntil(Duration.ofMillis(100), () -> lease.remaining().compareTo(TTL.minusSeconds(1)) > 0);

            lease.requireValid();
        }
    }

    @Test
    @DisplayName("P7 an error while cleaning up is followed by another try")
    void errorWhileCleaningUpIsFollowedByAnotherTry() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            Lease lease = client.lock("orders").acquire();
            AtomicInteger tries = new AtomicInteger();
            client.store.beforeRelease = () -> {
                switch (tries.getAndIncrement()) {
                    case 0 -> throw new StoreUnavailableException("orders", "away for a moment");
                    case 1 -> missingClass();
                    default -> {}
                }
            };

            assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);

            client.passUntil(Duration.ofMillis(50), () -> client.store.releases.get() == 1);
        }
    }

    @Test
    @DisplayName("P7 a grant pushed to a waiter and followed by an error is given back")
    void grantPushedToAWaiterAndFollowedByAnErrorIsGivenBack() {
        try (ManualClient client = new ManualClient()) {
            Grant elsewhere = client.holdElsewhere("orders");
            CompletableFuture<Lease> waiting = client.holdfast
                    .lock("orders", ManualClient.OPTIONS.withRenewal(Renewal.NONE))
                    .acquireAsync();
            await().until(() -> !client.lock("orders").inspect().waiters().isEmpty());
            client.store.beforeAnswer = () -> {
                client.store.beforeAnswer = () -> {};
                missingClass();
            };

            client.store.inner().release(elsewhere, Duration.ZERO, Deadline.after(client.time, TTL));

            assertThat(waiting).failsWithin(Duration.ofSeconds(10));
            await().until(() -> !client.isHeld("orders"));
        }
    }

    static Stream<RuntimeException> refusals() {
        return Stream.of(new RejectedExecutionException("full"), new IllegalStateException("a bug in an executor"));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    @DisplayName("P7 a future completes though the executor takes no callback")
    void futureCompletesThoughTheExecutorTakesNoCallback(RuntimeException refusal) {
        AtomicBoolean took = new AtomicBoolean();
        try (ManualClient client = new ManualClient(builder -> builder.executor(task -> {
            if (took.getAndSet(true)) {
                throw refusal;
            }
            CompletableFuture.runAsync(task);
        }))) {
            CompletableFuture<Lease> future = client.lock("orders").acquireAsync();

            assertThat(future).succeedsWithin(Duration.ofSeconds(10)).matches(Lease::isValid);
        }
    }

    @ParameterizedTest
    @MethodSource("refusals")
    @DisplayName("P7 a future fails though the executor takes no further step of it")
    void futureFailsThoughTheExecutorTakesNoFurtherStepOfIt(RuntimeException refusal) {
        AtomicBoolean refuses = new AtomicBoolean();
        try (ManualClient client = new ManualClient(builder -> builder.executor(task -> {
            if (refuses.get()) {
                throw refusal;
            }
            CompletableFuture.runAsync(task);
        }))) {
            Grant elsewhere = client.holdElsewhere("orders");
            CompletableFuture<Lease> waiting = client.lock("orders").acquireAsync();
            await().until(() -> !client.lock("orders").inspect().waiters().isEmpty());
            refuses.set(true);

            client.store.inner().release(elsewhere, Duration.ZERO, Deadline.after(client.time, TTL));

            assertThat(waiting).failsWithin(Duration.ofSeconds(10));
            await().until(() -> !client.isHeld("orders"));
        }
    }

    @ParameterizedTest
    @MethodSource("refusals")
    @DisplayName("P5 every holder is told of its loss though the executor takes no callback and no event")
    void everyHolderIsToldOfItsLossThoughTheExecutorTakesNothing(RuntimeException refusal) throws InterruptedException {
        try (ManualClient client =
                new ManualClient(builder -> builder.listener(event -> {}).executor(task -> {
                    throw refusal;
                }))) {
            List<Loss> losses = new CopyOnWriteArrayList<>();
            for (String name : List.of("orders", "stock")) {
                client.lock(name).acquire().onLost(losses::add);
            }
            client.store.network = FaultyStore.Network.DOWN;

            client.time.advance(TTL);

            await().untilAsserted(() -> assertThat(losses)
                    .extracting(Loss::name, Loss::reason)
                    .containsExactlyInAnyOrder(
                            tuple("orders", LossReason.EXPIRED), tuple("stock", LossReason.EXPIRED)));
        }
    }

    @Test
    @DisplayName("P2 a lease whose renewal cannot even be started does not keep the others from being renewed")
    void leaseWhoseRenewalCannotBeStartedDoesNotKeepTheOthersFromBeingRenewed() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            List<Lease> leases = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                leases.add(client.lock("orders-" + i).acquire());
            }
            Lease stuck = leases.remove(4);
            AtomicInteger tries = new AtomicInteger();
            client.store.beforeLane = name -> {
                if (name.equals(stuck.name()) && tries.incrementAndGet() < 3) {
                    missingClass();
                }
            };

            client.passUntil(TTL.dividedBy(30), () -> tries.get() >= 3);
            client.passUntil(TTL.dividedBy(30), () -> stuck.remaining().compareTo(TTL.dividedBy(2)) > 0);

            assertThat(leases).allMatch(Lease::isValid);
            assertThat(stuck.isValid()).isTrue();
        }
    }

    @Test
    void eventsGoOnOnceTheExecutorTakesWorkAgain() throws InterruptedException {
        AtomicBoolean full = new AtomicBoolean(true);
        List<LockEvent> heard = new CopyOnWriteArrayList<>();
        try (ManualClient client =
                new ManualClient(builder -> builder.listener(heard::add).executor(task -> {
                    if (full.get()) {
                        throw new RejectedExecutionException("full for a moment");
                    }
                    CompletableFuture.runAsync(task);
                }))) {
            client.lock("unheard").acquire().release();
            full.set(false);

            client.lock("heard").acquire().release();

            await().untilAsserted(() -> assertThat(heard)
                    .filteredOn(LockEvent.Released.class::isInstance)
                    .extracting(LockEvent::name)
                    .contains("heard"));
        }
    }

    private static void missingClass() {
        throw new NoClassDefFoundError("a driver's optional class (simulated)");
    }
}
