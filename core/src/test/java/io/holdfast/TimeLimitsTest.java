package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static io.holdfast.ManualClient.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A caller's time limit")
@Timeout(60)
class TimeLimitsTest {

    private static final Duration LIMIT = Duration.ofMillis(50);

    private final ManualClient client = new ManualClient();

    @AfterEach
    void close() {
        client.store.beforeAsk = () -> {};
        client.store.beforeRelease = () -> {};
        client.store.beforeWithdrawal = () -> {};
        client.close();
    }

    private Background<Optional<Lease>> waitForAnotherThread() {
        Background<Optional<Lease>> waiting = Background.run(() -> client.holdfast
                .lock("orders", ManualClient.OPTIONS.withFairness(Fairness.BARGING))
                .tryAcquire(LIMIT));
        await().until(waiting::isParked);
        return waiting;
    }

    @Test
    void ofNothingAsksTheStoreOnceAsIfItWereNotSaid() throws Exception {
        client.store.beforeRequest = deadline -> {
            if (deadline.hasPassed()) {
                throw new StoreUnavailableException("orders", "the deadline passed before it could be asked");
            }
        };

        assertHeldAndReleased(client.lock("orders").tryAcquire(Duration.ZERO));
        assertHeldAndReleased(client.lock("orders").tryAcquire(Duration.ofSeconds(-1)));
        assertHeldAndReleased(
                client.lock("orders").tryAcquireAsync(Duration.ZERO).join());
        assertHeldAndReleased(client.holdfast.lockAll("orders", "stock").tryAcquire(Duration.ZERO));
        assertHeldAndReleased(
                client.holdfast.lockAll("orders", "stock").tryAcquireAsync().join());
        assertHeldAndReleased(client.holdfast
                .lockAll("orders", "stock")
                .tryAcquireAsync(Duration.ZERO)
                .join());
    }

    private static void assertHeldAndReleased(Optional<? extends Hold> hold) {
        assertThat(hold.map(Hold::isValid)).contains(true);
        hold.ifPresent(Hold::release);
    }

    @Test
    @DisplayName("P7 that ends a request after a wait for another thread ends like any wait in vain")
    void thatEndsARequestAfterAWaitForAnotherThreadEndsLikeAnyWaitInVain() throws Exception {
        for (RuntimeException failure : failures()) {
            Lease held = client.lock("orders").acquire();
            Background<Optional<Lease>> waiting = waitForAnotherThread();
            client.store.beforeAsk = () -> {
                client.time.advance(LIMIT);
                throw failure;
            };

            held.release();

            assertThat(waiting.get(10, TimeUnit.SECONDS)).isEmpty();
            client.store.beforeAsk = () -> {};
        }
    }

    @Test
    @DisplayName("P7 that cuts a request short a moment before its end ends like any wait in vain too")
    void thatCutsARequestShortAMomentBeforeItsEndEndsLikeAnyWaitInVainToo() throws Exception {
        for (RuntimeException failure : failures()) {
            Lease held = client.lock("orders").acquire();
            Background<Optional<Lease>> waiting = waitForAnotherThread();
            // As a driver does that counts in whole milliseconds.
            client.store.beforeAsk = () -> {
                client.time.advance(LIMIT.minusNanos(800_000));
                throw failure;
            };

            held.release();

            client.passUntil(Duration.ofMillis(1), waiting::isDone);
            assertThat(waiting.get(10, TimeUnit.SECONDS)).isEmpty();
            client.store.beforeAsk = () -> {};
        }
    }

    @Test
    @DisplayName("P7 that is short and ends the first request ends like any wait in vain")
    void thatIsShortAndEndsTheFirstRequestEndsLikeAnyWaitInVain() throws Exception {
        for (RuntimeException failure : failures()) {
            client.store.beforeAsk = () -> {
                client.time.advance(LIMIT);
                throw failure;
            };

            assertThat(client.lock("orders").tryAcquire(LIMIT)).isEmpty();
        }
    }

    @Test
    @DisplayName("P7 that left time for an answer and got none is told of")
    void thatLeftTimeForAnAnswerAndGotNoneIsToldOf() {
        Duration ample = Duration.ofSeconds(1);
        client.store.beforeAsk = () -> {
            client.time.advance(ample);
            throw new UnknownOutcomeException("orders", "no answer in time");
        };

        assertThatExceptionOfType(UnknownOutcomeException.class)
                .isThrownBy(() -> client.lock("orders").tryAcquire(ample));
    }

    @Test
    @DisplayName("P7 that got no answer twice is told of twice, though the second waited for the first to be withdrawn")
    void thatGotNoAnswerTwiceIsToldOfTwice() throws Exception {
        Duration ample = Duration.ofSeconds(1);
        CountDownLatch answer = new CountDownLatch(1);
        client.store.beforeWithdrawal = () -> awaitQuietly(answer);
        client.store.beforeAsk = () -> {
            client.time.advance(ample);
            throw new UnknownOutcomeException("orders", "no answer in time");
        };
        assertThatExceptionOfType(UnknownOutcomeException.class)
                .isThrownBy(() -> client.lock("orders").tryAcquire(ample));

        Background<Optional<Lease>> second =
                Background.run(() -> client.lock("orders").tryAcquire(ample));
        await().until(second::isParked);
        client.time.advance(Duration.ofMillis(100));

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> second.get(10, TimeUnit.SECONDS))
                .withCauseInstanceOf(UnknownOutcomeException.class);
        answer.countDown();
    }

    @Test
    @DisplayName("P7 that is short lets no tickets pile up at the store, however many threads come")
    void thatIsShortLetsNoTicketsPileUpAtTheStore() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        client.store.beforeWithdrawal = () -> awaitQuietly(answer);
        client.holdElsewhere("orders");
        waitInVain(LIMIT);
        int asked = client.store.asks.get();

        for (int i = 0; i < 3; i++) {
            waitInVain(Duration.ofMillis(10));
        }

        assertThat(client.store.asks)
                .as("requests while a ticket is being withdrawn")
                .hasValue(asked);
        assertThat(client.lock("orders").tryAcquire()).isEmpty();
        assertThat(client.store.asks).as("a try does not queue").hasValue(asked + 1);
        Background<Optional<Lease>> last =
                Background.run(() -> client.lock("orders").tryAcquire(TTL));
        answer.countDown();
        await().until(() -> client.store.asks.get() == asked + 2);
        client.passUntil(TTL.dividedBy(10), last::isDone);
    }

    @Test
    @DisplayName("P7 that is short keeps nobody out for long if the ticket cannot be withdrawn")
    void thatIsShortKeepsNobodyOutForLongIfTheTicketCannotBeWithdrawn() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        client.store.beforeWithdrawal = () -> awaitQuietly(answer);
        client.holdElsewhere("orders");
        waitInVain(LIMIT);
        int asked = client.store.asks.get();

        Background<Optional<Lease>> next =
                Background.run(() -> client.lock("orders").tryAcquire(TTL));
        await().until(next::isParked);
        client.time.advance(Duration.ofMillis(100));

        await().until(() -> client.store.asks.get() == asked + 1);
        answer.countDown();
        client.passUntil(TTL.dividedBy(10), next::isDone);
    }

    @Test
    @DisplayName("P7 that ends others' waits keeps nobody out for longer, however many give up one after the other")
    void thatEndsOthersWaitsKeepsNobodyOutForLonger() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        client.store.beforeWithdrawal = () -> awaitQuietly(answer);
        client.holdElsewhere("orders");
        DistributedLock fifo = client.holdfast.lock("orders", ManualClient.OPTIONS.withFairness(Fairness.FIFO));
        for (int i = 1; i <= 6; i++) {
            Duration limit = LIMIT.multipliedBy(i);
            Background.run(() -> fifo.tryAcquire(limit));
            int asked = i;
            await().until(() -> client.store.asks.get() == asked);
        }
        await().until(() -> fifo.inspect().waiters().size() == 6);
        client.time.advance(LIMIT);
        await().until(() -> client.holdfast.statistics().waiting() == 5);

        Background<Optional<Lease>> next = Background.run(() -> fifo.tryAcquire(TTL));
        await().until(() -> client.holdfast.statistics().waiting() == 6);
        await().until(next::isParked);
        for (int i = 2; i <= 3; i++) {
            client.time.advance(LIMIT);
            int left = 7 - i;
            await().until(() -> client.holdfast.statistics().waiting() == left);
        }

        await().until(() -> client.store.asks.get() == 7);
        answer.countDown();
        client.passUntil(TTL.dividedBy(10), next::isDone);
    }

    @Test
    @DisplayName("P7 a store that was away before the limit is told of, not taken for a taken lock")
    void storeThatWasAwayBeforeTheLimitIsToldOf() throws Exception {
        Lease held = client.lock("orders").acquire();
        Background<Optional<Lease>> waiting = Background.run(() -> client.holdfast
                .lock("orders", ManualClient.OPTIONS.withFairness(Fairness.BARGING))
                .tryAcquire(TTL));
        await().until(waiting::isParked);
        client.store.network = FaultyStore.Network.DOWN;

        held.release();

        client.passUntil(TTL.dividedBy(10), waiting::isDone);
        assertThat(waiting).isCompletedExceptionally();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(waiting::get)
                .withCauseInstanceOf(StoreUnavailableException.class);
    }

    @Test
    @DisplayName("P7 of several locks that runs out after a wait for the first is no error")
    void ofSeveralLocksThatRunsOutAfterAWaitForTheFirstIsNoError() throws Exception {
        Ticket elsewhere = client.holdElsewhere("first");
        Background<Optional<MultiLease>> waiting =
                Background.run(() -> client.holdfast.lockAll("first", "second").tryAcquire(LIMIT));
        await().until(() -> !client.lock("first").inspect().waiters().isEmpty());
        client.store.beforeAsk = () -> {
            client.time.advance(LIMIT);
            throw new UnknownOutcomeException("second", "no answer in time");
        };

        client.releaseElsewhere(elsewhere);

        assertThat(waiting.get(10, TimeUnit.SECONDS)).isEmpty();
        client.store.beforeAsk = () -> {};
        await().until(() -> !client.isHeld("first"));
    }

    @Test
    @DisplayName("P7 of several locks covers giving back those that were had")
    void ofSeveralLocksCoversGivingBackThoseThatWereHad() throws Exception {
        client.holdElsewhere("second");
        CountDownLatch answer = new CountDownLatch(1);
        client.store.beforeRelease = () -> awaitQuietly(answer);
        Background<Optional<MultiLease>> waiting =
                Background.run(() -> client.holdfast.lockAll("first", "second").tryAcquire(LIMIT));
        await().until(() -> !client.lock("second").inspect().waiters().isEmpty());

        client.time.advance(LIMIT);

        assertThat(waiting.get(10, TimeUnit.SECONDS)).isEmpty();
        answer.countDown();
        await().until(() -> !client.isHeld("first"));
    }

    @Test
    @DisplayName("P7 covers giving back what another thread left behind")
    void coversGivingBackWhatAnotherThreadLeftBehind() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        AtomicReference<Thread> released = new AtomicReference<>();
        Lease held = client.lock("orders").acquire();
        Background<Optional<Lease>> waiting =
                Background.run(() -> client.lock("orders").tryAcquire(Duration.ofSeconds(2)));
        await().until(waiting::isParked);
        client.store.beforeRelease = () -> {
            released.set(Thread.currentThread());
            awaitQuietly(answer);
        };
        // What is handed on is no longer surely valid when it is taken up, and no renewal makes it so again.
        client.store.beforeRenewal = tickets -> awaitQuietly(answer);
        client.time.beforeWaking = thread -> {
            if (waiting.isOn(thread)) {
                client.time.beforeWaking = other -> {};
                client.time.advance(TTL.multipliedBy(6).dividedBy(10));
            }
        };

        held.release();

        await().until(() -> released.get() != null);
        assertThat(waiting.isOn(released.get()))
                .as("released on the caller's thread")
                .isFalse();
        client.time.advance(Duration.ofSeconds(2));
        assertThat(waiting.get(10, TimeUnit.SECONDS)).isEmpty();
        answer.countDown();
    }

    private void waitInVain(Duration limit) throws Exception {
        Background<Optional<Lease>> waiting =
                Background.run(() -> client.lock("orders").tryAcquire(limit));
        await().until(waiting::isParked);
        client.time.advance(limit);
        assertThat(waiting.get(10, TimeUnit.SECONDS)).isEmpty();
    }

    private static List<RuntimeException> failures() {
        return List.of(
                new StoreUnavailableException("orders", "not sent in time"),
                new UnknownOutcomeException("orders", "no answer in time"));
    }
}
