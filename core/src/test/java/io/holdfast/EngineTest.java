package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.FaultyStore.Network;
import io.holdfast.spi.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The engine, on a clock moved by hand")
class EngineTest {

    private static final Duration TTL = Duration.ofSeconds(10);

    private final ManualTime time = new ManualTime();
    private final List<LockEvent> events = new CopyOnWriteArrayList<>();
    private final AtomicReference<FaultyStore> opened = new AtomicReference<>();
    private final Holdfast holdfast = Holdfast.builder()
            .store(context -> {
                FaultyStore store = new FaultyStore(context);
                opened.set(store);
                return store;
            })
            .defaults(LockOptions.defaults().withTtl(TTL))
            .closeTimeout(Duration.ofMillis(200))
            .listener(events::add)
            .time(time)
            .connect();
    private final FaultyStore store = opened.get();
    private final DistributedLock lock = holdfast.lock("orders");

    @AfterEach
    void close() {
        store.network = Network.UP;
        ManualClient.close(holdfast, time);
    }

    @Test
    void leaseIsValidUntilItsTtlLessTheMarginAfterTheRequestWasSent() throws InterruptedException {
        // Less than a third of the ttl: the first renewal is not due yet.
        store.beforeAnswer = () -> time.advance(Duration.ofSeconds(2));

        Lease lease = lock.acquire();

        assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(8).minusMillis(102));
    }

    @Test
    void answerThatTakesLongerThanTheTtlIsNoLease() {
        store.beforeAnswer = () -> time.advance(TTL);

        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(lock::acquire)
                .withMessageContaining("orders");
        store.beforeAnswer = () -> {};
        await().untilAsserted(() -> assertThat(lock.inspect().isHeld()).isFalse());
    }

    @Test
    void leasesAreRenewedEveryThirdOfTheTtlInOneBatch() throws InterruptedException {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            leases.add(holdfast.lock("order-" + i).acquire());
        }

        for (int second = 0; second < 30; second++) {
            time.advance(Duration.ofSeconds(1));
            int now = second;
            await().until(() -> leases.stream().allMatch(Lease::isValid) || now < 0);
            await().until(() ->
                    leases.stream().allMatch(lease -> lease.remaining().compareTo(Duration.ofSeconds(5)) > 0));
        }

        assertThat(store.renewalBatches.get()).isLessThanOrEqualTo(40);
        assertThat(leases).allMatch(Lease::isValid);
    }

    @Test
    void holderIsToldAtItsDeadlineWhileTheStoreIsUnreachable() throws InterruptedException {
        Lease lease = lock.acquire();
        List<Loss> losses = new CopyOnWriteArrayList<>();
        lease.onLost(losses::add);
        store.network = Network.DOWN;

        time.advance(Duration.ofSeconds(5));

        await().untilAsserted(() -> assertThat(events).hasAtLeastOneElementOfType(LockEvent.RenewalFailing.class));
        assertThat(lease.isValid()).isTrue();
        assertThat(losses).isEmpty();

        time.advance(Duration.ofSeconds(5));

        assertThat(lease.isValid()).isFalse();
        await().untilAsserted(() -> assertThat(losses).extracting(Loss::reason).containsExactly(LossReason.EXPIRED));
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lease::requireValid);
        assertThat(lease.release()).isEqualTo(ReleaseResult.ALREADY_LOST);
    }

    @Test
    void renewalThatFailsForAWhileIsRetriedAndTheLeaseLivesOn() throws InterruptedException {
        Lease lease = lock.acquire();
        store.network = Network.ANSWERS_LOST;
        time.advance(Duration.ofSeconds(4));
        await().untilAsserted(() -> assertThat(events).hasAtLeastOneElementOfType(LockEvent.RenewalFailing.class));

        store.network = Network.UP;
        time.advance(Duration.ofSeconds(1));

        await().until(() -> lease.remaining().compareTo(Duration.ofSeconds(8)) > 0);
    }

    @Test
    void unknownOutcomeIsUndoneInTheBackground() {
        store.beforeAnswer = () -> {
            store.network = Network.DOWN;
            throw new UnknownOutcomeException("orders", "the connection broke");
        };
        assertThatExceptionOfType(UnknownOutcomeException.class).isThrownBy(lock::acquire);
        assertThat(lock.inspect().isHeld()).isTrue();

        store.beforeAnswer = () -> {};
        store.network = Network.UP;
        await().untilAsserted(() -> {
            time.advance(Duration.ofMillis(100));
            assertThat(lock.inspect().isHeld()).isFalse();
        });
        assertThat(lock.tryAcquire()).isPresent();
    }

    @Test
    void releaseWithoutAnswerIsPendingAndRepeated() throws InterruptedException {
        Lease lease = lock.acquire();
        store.network = Network.DOWN;

        assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);
        assertThat(lock.inspect().isHeld()).isTrue();

        store.network = Network.UP;
        await().untilAsserted(() -> {
            time.advance(Duration.ofMillis(100));
            assertThat(lock.inspect().isHeld()).isFalse();
        });
    }

    @Test
    void releaseThatFailsUnexpectedlyStillEndsTheLeaseAndLetsTheNextThreadIn() throws Exception {
        Lease lease = lock.acquire();
        store.beforeAnswer = () -> {
            store.beforeAnswer = () -> {};
            throw new IllegalStateException("a bug in the store");
        };

        assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);

        assertThat(lease.isValid()).isFalse();
        lock.acquireAsync().get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void waitLimitCoversTheGateAndTheStore() throws Exception {
        Lease held = lock.acquire();
        CompletableFuture<?> waiting = CompletableFuture.supplyAsync(() -> {
            try {
                return lock.tryAcquire(Duration.ofSeconds(3));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        await().until(() -> {
            if (held.remaining().compareTo(Duration.ofSeconds(5)) > 0) {
                time.advance(Duration.ofMillis(500));
            }
            return waiting.isDone();
        });

        assertThat(waiting.get()).isEqualTo(Optional.empty());
        assertThat(held.isValid()).isTrue();
    }

    @Test
    void leaseHeldForItsLongestTimeIsGivenUp() throws InterruptedException {
        Lease lease = holdfast.lock("job", lock.options().withMaxHold(Duration.ofSeconds(4)))
                .acquire();
        List<Loss> losses = new CopyOnWriteArrayList<>();
        lease.onLost(losses::add);

        time.advance(Duration.ofSeconds(4));

        await().untilAsserted(() -> assertThat(losses).extracting(Loss::reason).containsExactly(LossReason.MAX_HOLD));
        await().until(() -> !holdfast.lock("job").inspect().isHeld());
    }

    @Test
    void lockStaysTakenForItsShortestTime() throws InterruptedException {
        DistributedLock job = holdfast.lock("job", lock.options().withMinHold(Duration.ofSeconds(6)));
        Lease lease = job.acquire();
        time.advance(Duration.ofSeconds(1));

        assertThat(lease.release()).isEqualTo(ReleaseResult.RELEASED);

        assertThat(job.tryAcquire()).isEmpty();
        time.advance(Duration.ofSeconds(5));
        assertThat(job.tryAcquire()).isPresent();
    }

    @Test
    void fixedLeaseEndsUnlessExtended() throws InterruptedException {
        Lease lease =
                holdfast.lock("job", lock.options().withRenewal(Renewal.NONE)).acquire();
        time.advance(Duration.ofSeconds(9));
        lease.extend(Duration.ofSeconds(20));
        time.advance(Duration.ofSeconds(9));
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.remaining()).isGreaterThan(Duration.ofSeconds(10));

        time.advance(Duration.ofSeconds(12));

        assertThat(lease.isValid()).isFalse();
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> lease.extend(TTL));
    }

    @Test
    void closeTellsLeasesInUseAndFailsWaiters() throws Exception {
        Lease lease = lock.acquire();
        List<Loss> losses = new CopyOnWriteArrayList<>();
        lease.onLost(losses::add);
        CompletableFuture<Lease> waiter = lock.acquireAsync();

        close();

        await().untilAsserted(() -> assertThat(losses).extracting(Loss::reason).containsExactly(LossReason.CLOSED));
        assertThatThrownBy(() -> waiter.get(5, TimeUnit.SECONDS)).hasRootCauseInstanceOf(ClientClosedException.class);
        assertThatExceptionOfType(ClientClosedException.class).isThrownBy(lock::tryAcquire);
        assertThat(store.inner()
                        .views("", Optional.empty(), 10, Deadline.after(time, TTL))
                        .locks())
                .isEmpty();
    }

    @Test
    void eventsTellTheLifeOfALease() throws InterruptedException {
        try (Lease lease = lock.acquire()) {
            await().untilAsserted(() -> assertThat(events).hasSize(2));
        }
        await().untilAsserted(() -> assertThat(events)
                .extracting(Object::getClass)
                .containsExactly(LockEvent.Requested.class, LockEvent.Granted.class, LockEvent.Released.class));
    }
}
