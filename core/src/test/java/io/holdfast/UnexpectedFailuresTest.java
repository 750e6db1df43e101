package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static io.holdfast.ManualClient.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.LockObserver;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import java.io.IOException;
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
import java.util.function.Supplier;
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
    @DisplayName("P4 an error while one of several locks is released leaves none of the others held")
    void errorWhileOneOfSeveralLocksIsReleasedLeavesNoneOfTheOthersHeld() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            MultiLease both = client.holdfast.lockAll("a", "b").acquire();
            failNextReleases(client, 1);

            assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(both::close);

            await().until(() -> !client.isHeld("a") && !client.isHeld("b"));
        }
    }

    @Test
    @DisplayName("P4 errors while several locks are given back that were not all to be had leave none of them held")
    void errorsWhileSeveralLocksAreGivenBackLeaveNoneOfThemHeld() {
        try (ManualClient client = new ManualClient()) {
            client.holdElsewhere("d");
            failNextReleases(client, 2);

            assertThatExceptionOfType(NoClassDefFoundError.class)
                    .isThrownBy(client.holdfast.lockAll("a", "b", "c", "d")::tryAcquire)
                    .satisfies(first -> assertThat(first.getSuppressed()).hasSize(1));

            await().until(() -> Stream.of("a", "b", "c").noneMatch(client::isHeld));
        }
    }

    @Test
    void failureToHaveOneOfSeveralLocksIsNotHiddenByOneToGiveTheOthersBack() {
        try (ManualClient client = new ManualClient()) {
            failNextReleases(client, 1);
            client.store.beforeAsk = () -> {
                if (client.store.asks.get() == 2) {
                    throw new IllegalStateException("a bug in a driver");
                }
            };

            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(client.holdfast.lockAll("a", "b")::acquire)
                    .satisfies(first ->
                            assertThat(first.getSuppressed()).hasExactlyElementsOfTypes(NoClassDefFoundError.class));

            await().until(() -> !client.isHeld("a") && !client.isHeld("b"));
        }
    }

    /** Those of this thread: the clean-up tries again at once. */
    private static void failNextReleases(ManualClient client, int number) {
        Thread caller = Thread.currentThread();
        AtomicInteger left = new AtomicInteger(number);
        client.store.beforeRelease = () -> {
            if (Thread.currentThread() == caller && left.getAndDecrement() > 0) {
                missingClass();
            }
        };
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
            client.store.afterAsk = ticket -> missingClass();

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
            Ticket elsewhere = client.holdElsewhere("orders");
            CompletableFuture<Lease> waiting = client.holdfast
                    .lock("orders", ManualClient.OPTIONS.withRenewal(Renewal.NONE))
                    .acquireAsync();
            await().until(() -> !client.lock("orders").inspect().waiters().isEmpty());
            client.store.beforeAnswer = () -> {
                client.store.beforeAnswer = () -> {};
                missingClass();
            };

            client.releaseElsewhere(elsewhere);

            assertThat(waiting).failsWithin(Duration.ofSeconds(10));
            await().until(() -> !client.isHeld("orders"));
        }
    }

    @Test
    @DisplayName("P1 a write lease does not outlive a downgrade that may have been done")
    void writeLeaseDoesNotOutliveADowngradeThatMayHaveBeenDone() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            DistributedReadWriteLock lock = client.holdfast.readWriteLock("orders");
            Lease write = lock.writeLock().acquire();
            failNextAnswer(client);
            List<Boolean> validWhenUndone = new CopyOnWriteArrayList<>();
            client.store.beforeServer = name -> validWhenUndone.add(write.isValid());

            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> lock.downgrade(write));

            assertThat(write.isValid()).isFalse();
            assertThat(validWhenUndone).isNotEmpty().doesNotContain(true);
            await().until(() -> !client.isHeld("orders"));
        }
    }

    @Test
    @DisplayName("P7 what has to be undone is, though that could not even be started at first")
    void whatHasToBeUndoneIsThoughThatCouldNotBeStartedAtFirst() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            DistributedReadWriteLock lock = client.holdfast.readWriteLock("orders");
            Lease write = lock.writeLock().acquire();
            failNextAnswer(client);
            client.store.beforeServer = name -> {
                client.store.beforeServer = again -> {};
                missingClass();
            };

            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> lock.downgrade(write));

            client.passUntil(Duration.ofMillis(100), () -> !client.isHeld("orders"));
        }
    }

    private static void failNextAnswer(ManualClient client) {
        client.store.beforeAnswer = () -> {
            client.store.beforeAnswer = () -> {};
            throw new IllegalStateException("a bug in a driver");
        };
    }

    static Stream<Throwable> refusals() {
        return Stream.of(
                new RejectedExecutionException("full"),
                new IllegalStateException("a bug in an executor"),
                new OutOfMemoryError("unable to create native thread (simulated)"),
                new IOException("thrown by an executor that does not declare it"));
    }

    private static void refuseIf(boolean refuses, Throwable refusal) {
        if (refuses) {
            Sneaky.sneak(refusal);
        }
    }

    @ParameterizedTest
    @MethodSource("refusals")
    @DisplayName("P7 a future completes though the executor takes no callback")
    void futureCompletesThoughTheExecutorTakesNoCallback(Throwable refusal) {
        AtomicBoolean took = new AtomicBoolean();
        try (ManualClient client = new ManualClient(builder -> builder.executor(task -> {
            refuseIf(took.getAndSet(true), refusal);
            CompletableFuture.runAsync(task);
        }))) {
            CompletableFuture<Lease> future = client.lock("orders").acquireAsync();

            assertThat(future).succeedsWithin(Duration.ofSeconds(10)).matches(Lease::isValid);
        }
    }

    @ParameterizedTest
    @MethodSource("refusals")
    @DisplayName("P4 a future that waits gets its turn though the executor takes no further step of it")
    void futureThatWaitsGetsItsTurnThoughTheExecutorTakesNoFurtherStep(Throwable refusal) {
        AtomicBoolean refuses = new AtomicBoolean();
        try (ManualClient client = new ManualClient(builder -> builder.executor(task -> {
            refuseIf(refuses.get(), refusal);
            CompletableFuture.runAsync(task);
        }))) {
            Ticket elsewhere = client.holdElsewhere("orders");
            CompletableFuture<Lease> waiting = client.lock("orders").acquireAsync();
            await().until(() -> !client.lock("orders").inspect().waiters().isEmpty());
            refuses.set(true);

            client.releaseElsewhere(elsewhere);

            assertThat(waiting).succeedsWithin(Duration.ofSeconds(10)).matches(Lease::isValid);
        }
    }

    @Test
    @DisplayName("what a store does in the background waits neither for the user's executor nor for requests that hang")
    void storesBackgroundWaitsForNobody() throws InterruptedException {
        CountDownLatch answer = new CountDownLatch(1);
        try (ManualClient client = new ManualClient();
                ManualClient busy = new ManualClient(builder -> builder.executor(task -> {}))) {
            client.store.beforeAsk = () -> awaitQuietly(answer);
            int moreThanThreads = 4 * Runtime.getRuntime().availableProcessors() + 4;
            for (int i = 0; i < moreThanThreads; i++) {
                client.lock("hangs-" + i).acquireAsync();
            }

            for (ManualClient each : List.of(client, busy)) {
                CompletableFuture<Void> done = new CompletableFuture<>();
                each.store.context.background().execute(() -> done.complete(null));

                assertThat(done).succeedsWithin(Duration.ofSeconds(10));
            }
            answer.countDown();
        } finally {
            answer.countDown();
        }
    }

    @ParameterizedTest
    @MethodSource("refusals")
    @DisplayName("P5 every holder is told of its loss though the executor takes no callback and no event")
    void everyHolderIsToldOfItsLossThoughTheExecutorTakesNothing(Throwable refusal) throws InterruptedException {
        try (ManualClient client =
                new ManualClient(builder -> builder.listener(event -> {}).executor(task -> refuseIf(true, refusal)))) {
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
            client.store.beforeServer = name -> {
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

    @ParameterizedTest
    @MethodSource("refusals")
    void eventsAreHeardThoughTheExecutorTakesNone(Throwable refusal) throws InterruptedException {
        List<LockEvent> heard = new CopyOnWriteArrayList<>();
        try (ManualClient client =
                new ManualClient(builder -> builder.listener(heard::add).executor(task -> refuseIf(true, refusal)))) {
            client.lock("orders").acquire().release();

            await().untilAsserted(() -> assertThat(heard)
                    .filteredOn(LockEvent.Released.class::isInstance)
                    .extracting(LockEvent::name)
                    .containsExactly("orders"));
        }
    }

    // What users' code throws without declaring it, as Kotlin lets it.

    @Test
    void listenerThatThrowsWhatItDoesNotDeclareHearsTheNextEvent() throws InterruptedException {
        List<LockEvent> heard = new CopyOnWriteArrayList<>();
        try (ManualClient client = new ManualClient(builder -> builder.listener(event -> {
            heard.add(event);
            Sneaky.sneak(new IOException("the listener's own"));
        }))) {
            client.lock("orders").acquire().release();

            await().until(() -> heard.stream().anyMatch(LockEvent.Released.class::isInstance));
        }
    }

    @Test
    void everyCallbackHearsOfADepositionThoughAnotherThrowsWhatItDoesNotDeclare() throws InterruptedException {
        List<Loss> heard = new CopyOnWriteArrayList<>();
        try (ManualClient client = new ManualClient()) {
            Election election = client.holdfast.election("leader");
            election.onDeposed(loss -> Sneaky.sneak(new IOException("the callback's own")));
            election.onDeposed(heard::add);
            election.campaign();
            client.store.network = FaultyStore.Network.DOWN;

            client.time.advance(TTL);

            await().until(() -> !heard.isEmpty());
        }
    }

    @Test
    void observerThatThrowsWhatItDoesNotDeclareStopsNoAcquisition() throws InterruptedException {
        try (ManualClient client = new ManualClient(builder -> builder.observer(throwing(IOException::new)))) {
            client.lock("orders").acquire().release();

            assertThat(client.lock("orders").acquire().isValid()).isTrue();
        }
    }

    @Test
    void observerThatThrowsAnInterruptUndeclaredHidesNone() throws InterruptedException {
        try (ManualClient client = new ManualClient(builder -> builder.observer(throwing(InterruptedException::new)))) {
            client.lock("orders").acquire();

            assertThat(Thread.interrupted()).isTrue();
        }
    }

    /** One that fails when a lease has been acquired. */
    private static LockObserver throwing(Supplier<Exception> failure) {
        return new LockObserver() {
            @Override
            public void acquired(Acquisition acquisition, Way way, long token, Duration waited) {
                Sneaky.sneak(failure.get());
            }
        };
    }

    private static void missingClass() {
        throw new NoClassDefFoundError("a driver's optional class (simulated)");
    }
}
