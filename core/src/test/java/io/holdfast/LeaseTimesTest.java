package io.holdfast;

import static io.holdfast.ManualClient.OPTIONS;
import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
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

    @Test
    @DisplayName("P9 a lease extended beyond its ttl is renewed as often as others, not all the time")
    void leaseExtendedBeyondItsTtlIsRenewedAsOftenAsOthers() throws InterruptedException {
        Lease lease = client.lock("orders").acquire();
        lease.extend(Duration.ofHours(1));
        AtomicInteger renewals = client.store.renewalBatches;
        int first = renewals.get();
        for (int third = 0; third < 6; third++) {
            int before = renewals.get();
            client.time.advance(TTL.dividedBy(3));
            await().until(() -> renewals.get() > before);
        }

        // From here on the clock stands still.
        await().during(Duration.ofMillis(200)).until(() -> renewals.get() - first <= 8);
    }

    /** Each costs some 25 ns, as much as all that is told of an acquisition with nobody listening. */
    @Test
    void freeLockIsHadAndReleasedWithEightLooksAtTheClock() throws InterruptedException {
        Thread thread = Thread.currentThread();
        AtomicInteger looks = new AtomicInteger();
        TimeSource counting = new TimeSource() {
            @Override
            public long nanoTime() {
                looks.addAndGet(Thread.currentThread() == thread ? 1 : 0);
                return System.nanoTime();
            }

            @Override
            public void parkUntil(Object blocker, long untilNanos) {
                TimeSource.system().parkUntil(blocker, untilNanos);
            }
        };
        try (Holdfast holdfast =
                Holdfast.builder().store("memory:").time(counting).connect()) {
            DistributedLock lock = holdfast.lock("orders");
            looks.set(0);

            lock.acquire().release();

            // Begun, asked, sent by the store, granted in time, answered; released, sent by the store, answered.
            assertThat(looks).hasValueLessThanOrEqualTo(8);
        }
    }
}
