package io.holdfast;

import static io.holdfast.ManualClient.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockStatistics.StoreOperation;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A downgrade")
@Timeout(60)
class DowngradeTest {

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch answer = new CountDownLatch(1);
    private final ManualClient client = new ManualClient();
    private final DistributedReadWriteLock lock = client.holdfast.readWriteLock("catalogue");

    @AfterEach
    void close() {
        answer.countDown();
        client.close();
    }

    @Test
    @DisplayName("P7 that fails ends a lease that was released meanwhile")
    void thatFailsEndsALeaseThatWasReleasedMeanwhile() throws Exception {
        Lease write = lock.writeLock().acquire();
        Background<Lease> downgrading = downgradeThatFails(write);

        assertThat(write.release()).isEqualTo(ReleaseResult.PENDING);
        answer.countDown();

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> downgrading.get(10, TimeUnit.SECONDS))
                .withCauseInstanceOf(StoreUnavailableException.class);
        await().until(() -> !client.isHeld("catalogue"));
        assertThat(write.release()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(client.holdfast.statistics().held()).isZero();
    }

    @Test
    @DisplayName("P7 that fails leaves a lease that nobody released as it was")
    void thatFailsLeavesALeaseThatNobodyReleasedAsItWas() throws Exception {
        Lease write = lock.writeLock().acquire();
        Background<Lease> downgrading = downgradeThatFails(write);
        answer.countDown();

        assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> downgrading.get(10, TimeUnit.SECONDS));

        assertThat(write.isValid()).isTrue();
        assertThat(write.release()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(client.isHeld("catalogue")).isFalse();
    }

    @Test
    void goesOnAsAReadLeaseThatIsCountedOnce() throws Exception {
        Lease read = lock.downgrade(lock.writeLock().acquire());

        assertThat(client.holdfast.statistics().held()).isEqualTo(1);
        assertThat(read.release()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(client.holdfast.statistics().held()).isZero();
        assertThat(client.holdfast
                        .statistics()
                        .requests()
                        .get(StoreOperation.DOWNGRADE)
                        .answered())
                .isEqualTo(1);
    }

    private Background<Lease> downgradeThatFails(Lease write) throws InterruptedException {
        client.store.beforeDowngrade = () -> {
            client.store.beforeDowngrade = () -> {};
            asked.countDown();
            awaitQuietly(answer);
            throw new StoreUnavailableException("catalogue", "away for a moment");
        };
        Background<Lease> downgrading = Background.run(() -> lock.downgrade(write));
        assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
        return downgrading;
    }
}
