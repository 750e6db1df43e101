package io.holdfast;

import static io.holdfast.ManualClient.OPTIONS;
import static io.holdfast.ManualClient.TTL;
import static io.holdfast.ManualClient.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Work under a lock")
@Timeout(60)
class WorkUnderLockTest {

    private final ManualClient client = new ManualClient();
    private final DistributedLock lock = client.lock("orders");
    private final AtomicInteger runs = new AtomicInteger();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void getsTheLeaseAndTheLockIsFreeAfterIt() throws Exception {
        lock.run(lease -> {
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.token()).isPositive();
            runs.incrementAndGet();
        });
        long token = lock.call(Lease::token);
        lock.run(() -> runs.incrementAndGet());
        int result = lock.call(() -> runs.incrementAndGet());

        assertThat(result).isEqualTo(3);
        assertThat(token).isPositive();
        assertThat(client.isHeld("orders")).isFalse();
    }

    @Test
    void throwsItsOwnException() {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> lock.<IOException>run(lease -> {
                    throw new IOException("the work's own");
                }));

        assertThat(client.isHeld("orders")).isFalse();
    }

    @Test
    @DisplayName("P5 whose lease is lost meanwhile ends with that")
    void whoseLeaseIsLostMeanwhileEndsWithThat() {
        assertThatExceptionOfType(LeaseLostException.class)
                .isThrownBy(() -> lock.run(this::lose))
                .withMessageContaining("orders");
        assertThatExceptionOfType(LeaseLostException.class)
                .isThrownBy(() -> lock.<Integer, RuntimeException>call(lease -> {
                    lose(lease);
                    return 1;
                }));
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> lock.tryRun(this::lose));
    }

    @Test
    @DisplayName("P5 whose lease is lost and that fails itself ends with its own exception")
    void whoseLeaseIsLostAndThatFailsItselfEndsWithItsOwnException() {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> lock.<IOException>run(lease -> {
                    lose(lease);
                    throw new IOException("the work's own");
                }));
    }

    @Test
    void mayReleaseItsLeaseEarly() throws Exception {
        lock.run(Lease::release);

        assertThat(lock.<ReleaseResult, RuntimeException>call(Lease::release)).isEqualTo(ReleaseResult.RELEASED);
        assertThat(lock.callAsync(Lease::releaseAsync)).succeedsWithin(Duration.ofSeconds(10));
    }

    @Test
    void isNotRunIfTheLockIsTaken() throws Exception {
        client.holdElsewhere("orders");

        assertThat(lock.tryRun(() -> runs.incrementAndGet())).isFalse();
        assertThat(lock.tryRun(lease -> runs.incrementAndGet())).isFalse();
        assertThat(lock.tryRun(Duration.ZERO, () -> runs.incrementAndGet())).isFalse();
        assertThat(lock.<Integer, RuntimeException>tryCall(lease -> runs.incrementAndGet()))
                .isEmpty();
        Background<Boolean> waiting =
                Background.run(() -> lock.tryRun(Duration.ofSeconds(1), lease -> runs.incrementAndGet()));
        await().until(waiting::isParked);
        client.time.advance(Duration.ofSeconds(1));
        assertThat(waiting.get(10, TimeUnit.SECONDS)).isFalse();
        assertThat(runs).hasValue(0);
    }

    @Test
    void isRunIfTheLockCanBeHad() throws Exception {
        assertThat(lock.tryRun(() -> runs.incrementAndGet())).isTrue();
        assertThat(lock.tryRun(Duration.ofSeconds(1), lease -> runs.incrementAndGet()))
                .isTrue();
        assertThat(lock.<Integer, RuntimeException>tryCall(lease -> runs.incrementAndGet()))
                .contains(3);
        Optional<Integer> called = lock.tryCall(Duration.ofSeconds(1), lease -> runs.incrementAndGet());

        assertThat(called).contains(4);
        assertThat(client.isHeld("orders")).isFalse();
    }

    @Test
    void thatReturnsNullCannotBeToldFromATakenLock() {
        assertThatExceptionOfType(NullPointerException.class)
                .isThrownBy(() -> lock.<Object, RuntimeException>tryCall(lease -> null))
                .withMessageContaining("null");
        assertThat(client.isHeld("orders")).isFalse();
    }

    @Test
    void isOfferedByEveryKindOfLock() throws Exception {
        client.holdfast.semaphore("permits", 2).run(permit -> runs.incrementAndGet());
        client.holdfast.lockAll("first", "second").run(both -> {
            assertThat(both.leases()).hasSize(2);
            runs.incrementAndGet();
        });
        client.holdfast.readWriteLock("catalogue").readLock().run(lease -> runs.incrementAndGet());

        assertThat(runs).hasValue(3);
    }

    // Without a waiting thread.

    @Test
    void asAStageHoldsTheLockUntilTheStageIsComplete() throws Exception {
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> whole = lock.callAsync(lease -> stage);
        await().until(() -> client.isHeld("orders"));
        assertThat(whole).isNotDone();

        stage.complete("sent");

        assertThat(whole.get(10, TimeUnit.SECONDS)).isEqualTo("sent");
        assertThat(client.isHeld("orders")).isFalse();
    }

    @Test
    void asAStageThatFailsEndsWithThatAndReleases() {
        CompletableFuture<String> failed =
                lock.callAsync(lease -> CompletableFuture.failedFuture(new IOException("own")));
        CompletableFuture<String> thrown = lock.callAsync(lease -> {
            throw new IllegalStateException("own");
        });
        CompletableFuture<String> nothing = lock.callAsync(lease -> null);

        assertThat(failed)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(IOException.class);
        assertThat(thrown)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(IllegalStateException.class);
        assertThat(nothing)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(NullPointerException.class);
        assertThat(client.isHeld("orders")).isFalse();
    }

    @Test
    void asAStageThatThrowsWhatItDoesNotDeclareEndsWithThatAndReleases() {
        CompletableFuture<String> whole = lock.callAsync(lease -> {
            Sneaky.sneak(new IOException("own"));
            return CompletableFuture.completedFuture("not reached");
        });

        assertThat(whole)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(IOException.class);
        assertThat(client.isHeld("orders")).isFalse();
    }

    @Test
    @DisplayName("P5 as a stage whose lease is lost meanwhile ends with that")
    void asAStageWhoseLeaseIsLostMeanwhileEndsWithThat() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> whole = lock.callAsync(lease -> stage);
        await().until(() -> client.isHeld("orders"));
        client.holdfast.administration().forceRelease("orders");

        stage.complete("sent");

        assertThat(whole)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(LeaseLostException.class);
    }

    @Test
    void canBeTriedWithoutAWaitingThread() throws Exception {
        Lease lease = lock.tryAcquireAsync().get(10, TimeUnit.SECONDS).orElseThrow();

        assertThat(lock.tryAcquireAsync().get(10, TimeUnit.SECONDS)).isEmpty();
        assertThat(client.holdfast.lockAll("other", "orders").tryAcquireAsync().get(10, TimeUnit.SECONDS))
                .isEmpty();
        lease.release();
        assertThat(client.holdfast.semaphore("permits", 1).tryAcquireAsync().get(10, TimeUnit.SECONDS))
                .isPresent();
    }

    // Releasing, extending, asking the server.

    @Test
    void isReleasedWithoutWaitingForTheStore() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        Lease lease = lock.acquire();
        client.store.beforeRelease = () -> awaitQuietly(answer);

        CompletableFuture<ReleaseResult> releasing = lease.releaseAsync();

        assertThat(lease.isValid()).isFalse();
        assertThat(releasing).isNotDone();
        assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);
        answer.countDown();
        assertThat(releasing.get(10, TimeUnit.SECONDS)).isEqualTo(ReleaseResult.RELEASED);
        assertThat(lease.releaseAsync().get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(client.isHeld("orders")).isFalse();
    }

    @Test
    void ofSeveralLocksIsReleasedWithTheWorstResult() throws Exception {
        MultiLease both = client.holdfast.lockAll("first", "second").acquire();
        client.holdfast.administration().forceRelease("first");

        assertThat(both.releaseAsync().get(10, TimeUnit.SECONDS)).isEqualTo(ReleaseResult.ALREADY_LOST);
        assertThat(client.isHeld("second")).isFalse();
    }

    @Test
    void isExtendedForAsLongAsItIsTold() throws Exception {
        Lease lease = client.holdfast
                .lock("orders", OPTIONS.withRenewal(Renewal.NONE))
                .acquire();

        Duration left = lease.extend(TTL.multipliedBy(3));

        assertThat(left).isGreaterThanOrEqualTo(TTL.multipliedBy(3)).isEqualTo(lease.remaining());
        assertThat(lease.extend(Duration.ofMillis(1))).as("never shortened").isEqualTo(left);
    }

    @Test
    void ofSeveralLocksThatCannotBeExtendedSaysWhich() throws Exception {
        MultiLease both = client.holdfast.lockAll("first", "second").acquire();
        assertThat(both.extend(TTL.multipliedBy(2))).isGreaterThanOrEqualTo(TTL.multipliedBy(2));
        client.holdfast.administration().forceRelease("second");

        assertThatExceptionOfType(LeaseLostException.class)
                .isThrownBy(() -> both.extend(TTL.multipliedBy(3)))
                .withMessageContaining("'second'");
    }

    @Test
    void canBePrecededByAskingTheServer() {
        client.holdfast.ping(Duration.ofSeconds(1));
        client.store.beforePing = () -> {
            throw new StoreUnavailableException("*", "away");
        };

        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> client.holdfast.ping(Duration.ofSeconds(1)));

        client.holdfast.close();
        assertThatExceptionOfType(ClientClosedException.class)
                .isThrownBy(() -> client.holdfast.ping(Duration.ofSeconds(1)));
    }

    @Test
    @DisplayName("P7 keeps the lock taken for its shortest hold, beyond the ttl, and only if it was finished")
    void keepsTheLockTakenForItsShortestHoldBeyondTheTtl() throws Exception {
        Duration minHold = TTL.multipliedBy(3);
        DistributedLock job = client.holdfast.lock("job", OPTIONS.withMinHold(minHold));
        assertThat(job.tryRun(() -> runs.incrementAndGet())).isTrue();

        client.time.advance(minHold.minusMillis(1));
        assertThat(job.tryRun(() -> runs.incrementAndGet())).isFalse();
        client.time.advance(Duration.ofMillis(1));
        assertThat(job.tryRun(() -> runs.incrementAndGet())).isTrue();

        Lease unfinished =
                client.holdfast.lock("crashed", OPTIONS.withMinHold(minHold)).acquire();
        client.store.network = FaultyStore.Network.DOWN;
        client.time.advance(TTL.multipliedBy(2));
        await().until(() -> !unfinished.isValid() && !client.isHeld("crashed"));
    }

    private void lose(Lease lease) {
        client.holdfast.administration().forceRelease(lease.name());
    }
}
