package io.holdfast;

import static io.holdfast.ManualClient.OPTIONS;
import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("When a lease begins and ends")
@Timeout(60)
class LeaseTimesTest {

    private final ManualClient client = new ManualClient();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void lockStaysTakenForItsShortestTimeEvenIfTheLeaseRunsOut() throws InterruptedException {
        DistributedLock job =
                client.holdfast.lock("job", OPTIONS.withRenewal(Renewal.NONE).withMinHold(TTL));
        Lease lease = job.acquire();

        client.time.advance(TTL.minusMillis(100)); // within the margin
        assertThat(lease.isValid()).isFalse();
        await().until(() -> client.store.releases.get() == 1);

        assertThat(client.isHeld("job")).isTrue();
        client.time.advance(Duration.ofMillis(100));
        await().until(() -> job.tryAcquire().isPresent());
    }

    @Test
    void extendedLeaseIsValidForAtLeastAsLongAsAsked() throws InterruptedException {
        Lease lease = client.lock("orders").acquire();

        lease.extend(Duration.ofMinutes(10));

        assertThat(lease.remaining()).isGreaterThanOrEqualTo(Duration.ofMinutes(10));
    }
}
