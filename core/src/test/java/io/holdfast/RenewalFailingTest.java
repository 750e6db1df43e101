package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static io.holdfast.ManualClient.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.FaultyStore.Network;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class RenewalFailingTest {

    @Test
    void P5_aRenewalThatFailsAfterTheDeadlineIsNotToldAsOneOfAValidLease() throws InterruptedException {
        List<LockEvent> events = new CopyOnWriteArrayList<>();
        CountDownLatch failed = new CountDownLatch(1);
        try (ManualClient client = new ManualClient(settings -> settings.listener(events::add))) {
            Lease lease = client.lock("orders").acquire();
            client.store.beforeRenewal = tickets -> {
                // The request outlives the lease, and fails before the thread that watches deadlines has looked at the
                // clock.
                client.time.beforeWaking = thread -> awaitQuietly(failed);
                client.time.advance(TTL);
                tickets.get(0).failing(new StoreUnavailableException("orders", "the network is down"));
                client.store.beforeRenewal = later -> {};
                client.store.network = Network.DOWN;
                failed.countDown();
            };

            client.time.advance(Duration.ofSeconds(4));

            await().atMost(Duration.ofMinutes(1))
                    .until(() -> events.stream().anyMatch(LockEvent.Lost.class::isInstance));
            assertThat(lease.isValid()).isFalse();
            assertThat(events).noneMatch(LockEvent.RenewalFailing.class::isInstance);
            client.store.network = Network.UP;
        }
    }
}
