package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.FaultyStore.Network;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A store that is away for longer than a ttl")
@Timeout(60)
class OutageTest {

    private static final Duration SHORT_TTL = Duration.ofSeconds(2);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

    private final ManualClient client = new ManualClient();
    private final DistributedLock lock = client.lock("orders");

    @AfterEach
    void close() {
        client.store.beforeAsk = () -> {};
        client.close();
    }

    @Test
    @DisplayName("P7 the release of an extended lease is repeated until the lease would have ended")
    void releaseOfAnExtendedLeaseIsRepeatedUntilTheLeaseWouldHaveEnded() throws InterruptedException {
        Lease lease = lock.acquire();
        lease.extend(Duration.ofHours(1));
        client.store.network = Network.DOWN;
        assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);

        int before = client.store.requests.get();
        client.time.advance(TTL.multipliedBy(2));
        await().until(() -> client.store.requests.get() > before);
        client.store.network = Network.UP;

        client.passUntil(Duration.ofMillis(100), () -> !client.isHeld("orders"));
    }

    @Test
    @DisplayName("P9 but with pauses, however long it lasts")
    void butWithPausesHoweverLongItLasts() throws InterruptedException {
        Lease lease = lock.acquire();
        lease.extend(Duration.ofHours(1));
        client.store.network = Network.DOWN;
        assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);
        for (int tries = 0; tries < 70; tries++) {
            int before = client.store.requests.get();
            client.time.advance(TTL.dividedBy(2));
            await().until(() -> client.store.requests.get() > before);
        }

        // From here on the clock stands still.
        int before = client.store.requests.get();
        await().during(Duration.ofMillis(200)).until(() -> client.store.requests.get() <= before + 1);
    }

    @Test
    @DisplayName("P7 so is that of a lease whose extension was not answered")
    void soIsThatOfALeaseWhoseExtensionWasNotAnswered() throws InterruptedException {
        Lease lease = lock.acquire();
        client.store.network = Network.ANSWERS_LOST;
        assertThatThrownBy(() -> lease.extend(Duration.ofHours(1))).isInstanceOf(UnknownOutcomeException.class);
        client.store.network = Network.DOWN;
        assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);

        for (int passed = 0; passed < 5; passed++) {
            int before = client.store.requests.get();
            client.time.advance(TTL);
            await().until(() -> client.store.requests.get() > before);
        }
        client.store.network = Network.UP;

        client.passUntil(Duration.ofMillis(100), () -> !client.isHeld("orders"));
    }

    @Test
    void waitersBehindEachOtherAreToldTogetherWhenItHasLastedOneTtl() throws InterruptedException {
        Lease held = lock.acquire();
        List<Background<Lease>> waiters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            waiters.add(Background.run(lock::acquire));
        }
        await().until(() -> waiters.stream().allMatch(Background::isParked));
        client.time.advance(Duration.ofMillis(50)); // too late for a local handoff
        client.store.network = Network.DOWN;
        held.release();

        client.passUntil(Duration.ofMillis(500), () -> waiters.stream().anyMatch(Background::isDone));

        // From here on the clock stands still.
        await().until(() -> waiters.stream().allMatch(Background::isDone));
        assertThat(waiters)
                .allSatisfy(waiter -> assertThat(waiter)
                        .isCompletedExceptionally()
                        .failsWithin(Duration.ZERO)
                        .withThrowableThat()
                        .withCauseInstanceOf(StoreUnavailableException.class));
    }

    @Test
    void waiterIsToldThoughEachRequestTakesLongerThanATtlToFail() {
        client.holdElsewhere("slow");
        Background<Lease> waiter =
                Background.run(() -> client.holdfast.lock("slow", shortTtl()).acquire());
        await().until(() -> !client.lock("slow").inspect().waiters().isEmpty());
        int asked = client.store.asks.get();
        fallSilent();

        client.passUntil(Duration.ofMillis(100), () -> waiter.isDone() || client.store.asks.get() > asked + 4);

        assertThat(waiter)
                .as("after %d requests", client.store.asks.get() - asked)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(UnknownOutcomeException.class);
    }

    @Test
    @DisplayName("P7 is not taken for a taken lock though each request takes longer than a ttl to fail")
    void isNotTakenForATakenLockThoughEachRequestTakesLongerThanATtlToFail() {
        client.holdElsewhere("slow");
        Background<Optional<Lease>> waiter =
                Background.run(() -> client.holdfast.lock("slow", shortTtl()).tryAcquire(Duration.ofSeconds(12)));
        await().until(() -> !client.lock("slow").inspect().waiters().isEmpty());
        fallSilent();

        client.passUntil(Duration.ofMillis(100), waiter::isDone);

        assertThat(waiter)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(UnknownOutcomeException.class);
    }

    @Test
    @DisplayName("P7 and has answered others since then left the lock taken")
    void andHasAnsweredOthersSinceThenLeftTheLockTaken() throws InterruptedException {
        LockOptions polls = shortTtl().withFairness(Fairness.BARGING);
        client.holdElsewhere("slow");
        Background<Optional<Lease>> waiter =
                Background.run(() -> client.holdfast.lock("slow", polls).tryAcquire(Duration.ofSeconds(3)));
        await().until(waiter::isParked);
        client.store.network = Network.DOWN;
        int asked = client.store.asks.get();
        client.passUntil(Duration.ofMillis(10), () -> client.store.asks.get() > asked && waiter.isParked());
        client.store.network = Network.UP;

        assertThat(client.holdfast
                        .lock("slow", shortTtl().withFairness(Fairness.FIFO))
                        .tryAcquire())
                .isEmpty();
        client.time.advance(Duration.ofSeconds(3));

        assertThat(waiter).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(Optional.empty());
    }

    private static LockOptions shortTtl() {
        return ManualClient.OPTIONS.withTtl(SHORT_TTL);
    }

    /** Requests for a lock hang until their timeout. */
    private void fallSilent() {
        client.store.beforeAsk = () -> {
            client.time.advance(REQUEST_TIMEOUT);
            throw new UnknownOutcomeException("slow", "no answer in time");
        };
        client.store.network = Network.DOWN;
    }
}
