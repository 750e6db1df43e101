package io.holdfast;

import static io.holdfast.ManualClient.FOREVER;
import static io.holdfast.ManualClient.OPTIONS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Durations that no number of nanoseconds can hold")
@Timeout(60)
class HugeDurationsTest {

    @Test
    @DisplayName("P5 an endless maxHold does not stop the renewal of other leases")
    void endlessMaxHoldDoesNotStopTheRenewalOfOtherLeases() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            Lease other = client.lock("other").acquire();
            Lease endless = client.holdfast
                    .lock("endless", OPTIONS.withMaxHold(FOREVER))
                    .acquire();

            for (int second = 0; second < 20; second++) {
                client.time.advance(Duration.ofSeconds(1));
                await().until(() -> Stream.of(other, endless)
                        .allMatch(lease -> lease.remaining().compareTo(Duration.ofSeconds(5)) > 0));
            }

            assertThat(other.isValid()).isTrue();
            assertThat(endless.isValid()).isTrue();
        }
    }

    @Test
    @DisplayName("P7 an endless longWait leaves nobody behind in line")
    void endlessLongWaitLeavesNobodyBehindInLine() throws InterruptedException {
        try (ManualClient client = new ManualClient(builder -> builder.longWait(FOREVER))) {
            DistributedLock lock = client.holdfast.lock("orders", OPTIONS.withFairness(Fairness.FIFO));
            lock.acquire();

            Background<Optional<Lease>> waiter = Background.run(() -> lock.tryAcquire(Duration.ofMillis(100)));
            client.passUntil(Duration.ofMillis(50), waiter::isDone);

            assertThat(waiter).isCompletedWithValue(Optional.empty());
            await().until(() -> lock.inspect().waiters().isEmpty());
        }
    }

    @Test
    @DisplayName("P4 an endless time for local handoff does not keep a lock nobody waits for")
    void endlessHandoffTimeDoesNotKeepALockNobodyWaitsFor() throws InterruptedException {
        try (ManualClient client = new ManualClient(builder -> builder.localHandoff(64, FOREVER))) {
            Lease lease = client.lock("orders").acquire();

            assertThat(lease.release()).isEqualTo(ReleaseResult.RELEASED);

            assertThat(client.isHeld("orders")).isFalse();
        }
    }

    @Test
    void plainLockTakesTheLongestWaitItsInterfaceAllows() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            Lock lock = client.lock("orders").asReentrantLock();

            assertThat(lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
        }
    }

    @Test
    void endlessExtensionIsRefusedWithAReasonAndTheLeaseLivesOn() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            Lease lease = client.lock("orders").acquire();

            assertThatExceptionOfType(UnsupportedLockException.class)
                    .isThrownBy(() -> lease.extend(FOREVER))
                    .withMessageContaining("orders")
                    .withMessageContaining("at most");

            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void endlessMinHoldIsRefusedAndNotBrokenAtTheRelease() {
        try (ManualClient client = new ManualClient()) {
            assertThatExceptionOfType(UnsupportedLockException.class)
                    .isThrownBy(() -> client.holdfast.lock("orders", OPTIONS.withMinHold(FOREVER)))
                    .withMessageContaining("orders")
                    .withMessageContaining("minHold");
        }
    }

    @Test
    void theLongestMinHoldIsKept() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            Duration century = Duration.ofDays(36_500);
            Lease lease =
                    client.holdfast.lock("orders", OPTIONS.withMinHold(century)).acquire();

            assertThat(lease.release()).isEqualTo(ReleaseResult.RELEASED);

            client.time.advance(ManualClient.TTL.multipliedBy(2));
            assertThat(client.isHeld("orders")).isTrue();
        }
    }
}
