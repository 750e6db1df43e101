package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.FaultyStore.Network;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A store that is away for longer than a ttl")
@Timeout(60)
class OutageTest {

    private final ManualClient client = new ManualClient();
    private final DistributedLock lock = client.lock("orders");

    @AfterEach
    void close() {
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
}
