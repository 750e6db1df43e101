package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("What was never closed")
@Timeout(60)
class LeaksTest {

    /** Short, since a leak is looked for with every renewal; long enough to survive the collections of garbage. */
    private static final LockOptions SHORT = LockOptions.defaults().withTtl(Duration.ofSeconds(6));

    private final CapturedLog log = new CapturedLog();
    private final Holdfast holdfast = Holdfast.builder()
            .store("memory:")
            .localHandoff(64, Duration.ofMinutes(1))
            .connect();

    @AfterEach
    void close() {
        holdfast.close();
        log.close();
    }

    @Test
    void isNamedIfItIsAReentrantLockWhoseThreadHasEnded() throws Exception {
        Thread careless = new Thread(
                () -> holdfast.lock("reentrant", SHORT).asReentrantLock().lock(), "careless");
        careless.start();
        careless.join(10_000);

        awaitWarning("reentrant", "careless");
        assertThat(holdfast.lock("reentrant").inspect().isHeld()).isTrue();
    }

    @Test
    void isNamedIfItIsAnElectionThatLeads() throws Exception {
        campaignAndForget();

        awaitWarning("leader", Thread.currentThread().getName());
    }

    private void campaignAndForget() throws InterruptedException {
        Election election = holdfast.election("leader", SHORT);
        election.onElected(epoch -> {});
        election.onDeposed(loss -> {});
        election.campaign();
    }

    @Test
    void isNamedIfItWasGotAsAFuture() {
        holdfast.lock("future", SHORT).acquireAsync().join();

        awaitWarning("future", Thread.currentThread().getName());
    }

    @Test
    void isNamedWithTheThreadItWasHandedOnTo() throws Exception {
        Lease first = holdfast.lock("handed-on", SHORT).acquire();
        Thread careless = new Thread(
                () -> {
                    try {
                        holdfast.lock("handed-on", SHORT).acquire();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "careless");
        careless.start();
        await().until(() -> careless.getState() == Thread.State.TIMED_WAITING);
        first.release();
        careless.join(10_000);

        awaitWarning("handed-on", "careless");
    }

    @Test
    @DisplayName("P5 and lost is told to a thread that unlocks, however often garbage was collected")
    void lostReentrantLockIsToldAfterACollection() throws Exception {
        try (ManualClient client = new ManualClient()) {
            Lock lock = client.lock("lost").asReentrantLock();
            lock.lock();
            client.holdfast.administration().forceRelease("lost");
            client.time.advance(ManualClient.TTL);
            await().until(() -> client.holdfast.statistics().lost().get(LossReason.FORCED) == 1);
            for (int i = 0; i < 3; i++) {
                System.gc();
            }

            assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lock::unlock);
        }
    }

    private void awaitWarning(String lock, String thread) {
        await().atMost(30, TimeUnit.SECONDS).untilAsserted(() -> {
            System.gc();
            assertThat(log.textsAbout(lock))
                    .anyMatch(text -> text.contains("never closed") && text.contains("thread " + thread));
        });
    }
}
