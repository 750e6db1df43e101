package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Ticket;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A loss the store reports before there is a lease")
@Timeout(60)
class EarlyLossTest {

    private final ManualClient client = new ManualClient();
    private final List<Ticket> asked = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    @DisplayName("P1 a waiter whose grant is lost before it wakes asks again")
    void waiterWhoseGrantIsLostBeforeItWakesAsksAgain() throws Exception {
        client.store.afterAsk = asked::add;
        Ticket elsewhere = client.holdElsewhere("orders");
        Background<Lease> waiting = Background.run(client.lock("orders")::acquire);
        await().until(() -> asked.size() == 1 && waiting.isParked());
        CountDownLatch lost = new CountDownLatch(1);
        client.time.beforeWaking = thread -> {
            if (waiting.isOn(thread)) {
                awaitQuietly(lost);
            }
        };

        client.releaseElsewhere(elsewhere);
        assertThat(asked.get(0).state()).isEqualTo(Ticket.State.HELD);
        forceRelease();
        lost.countDown();

        assertHolds(waiting.get(10, TimeUnit.SECONDS));
    }

    @Test
    @DisplayName("P1 a grant that is lost before the engine has read the answer is asked for again")
    void grantThatIsLostBeforeTheEngineHasReadTheAnswerIsAskedForAgain() throws InterruptedException {
        client.store.afterAsk = ticket -> {
            asked.add(ticket);
            if (asked.size() == 1) {
                forceRelease();
            }
        };

        assertHolds(client.lock("orders").acquire());
    }

    @Test
    @DisplayName("P1 a loss that overtakes its grant makes the grant unwanted, and the lock is asked for again")
    void lossThatOvertakesItsGrantMakesTheGrantUnwanted() throws InterruptedException {
        client.store.afterAsk = asked::add;
        client.store.beforeAnswer = () -> {
            client.store.beforeAnswer = () -> {};
            forceRelease();
        };

        assertHolds(client.lock("orders").acquire());
    }

    private void assertHolds(Lease lease) {
        assertThat(asked).hasSizeGreaterThan(1);
        assertThat(asked.get(0).ending()).map(Ticket.Ending::reason).contains(LossReason.FORCED);
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.storeToken()).isGreaterThan(asked.get(0).storeToken());
        assertThat(client.lock("orders").inspect().holders())
                .extracting(LockView.Holder::token)
                .containsExactly(Optional.of(lease.token()));
    }

    @Test
    @DisplayName("P5 a holder is told of a loss while its lease is downgraded")
    void holderIsToldOfALossWhileItsLeaseIsDowngraded() throws InterruptedException {
        List<Loss> losses = new CopyOnWriteArrayList<>();
        DistributedReadWriteLock lock = client.holdfast.readWriteLock("orders");
        Lease write = lock.writeLock().acquire();
        write.onLost(losses::add);
        client.store.beforeAnswer = this::forceRelease;

        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> lock.downgrade(write));

        assertThat(write.isValid()).isFalse();
        await().untilAsserted(() -> assertThat(losses).extracting(Loss::reason).containsExactly(LossReason.FORCED));
    }

    private void forceRelease() {
        int robbed = ((AdministeredStore) client.store.inner()).forceRelease("orders", client.deadline());
        assertThat(robbed).isEqualTo(1);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
