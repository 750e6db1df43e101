package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A loss the store reports before there is a lease")
@Timeout(60)
class EarlyLossTest {

    private final ManualExecutor executor = new ManualExecutor();
    private final ManualClient client = new ManualClient(builder -> builder.executor(executor));
    private final AtomicReference<OwnerId> owner = new AtomicReference<>();
    private final List<Loss> losses = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    @DisplayName("P5 a holder is told of a loss between the push of its grant and its waking")
    void holderIsToldOfALossBetweenThePushOfItsGrantAndItsWaking() {
        client.store.afterAsk = request -> owner.set(request.owner());
        Grant elsewhere = client.holdElsewhere("orders");
        CompletableFuture<Lease> waiting = client.lock("orders").acquireAsync();
        executor.runAll();

        client.store.inner().release(elsewhere, Duration.ZERO, Deadline.after(client.time, TTL));
        lose();
        executor.runAll();

        assertTold(waiting.join());
    }

    @Test
    @DisplayName("P5 a holder is told of a loss while its lease is downgraded")
    void holderIsToldOfALossWhileItsLeaseIsDowngraded() throws InterruptedException {
        client.store.afterAsk = request -> owner.set(request.owner());
        DistributedReadWriteLock lock = client.holdfast.readWriteLock("orders");
        Lease write = lock.writeLock().acquire();
        client.store.beforeAnswer = this::lose;

        Lease read = lock.downgrade(write);

        assertTold(read);
    }

    private void lose() {
        client.store.context.losses().lost(owner.get(), LossReason.FORCED, "by force");
    }

    private void assertTold(Lease lease) {
        lease.onLost(losses::add);
        executor.runAll();
        assertThat(lease.isValid()).isFalse();
        assertThat(losses).extracting(Loss::reason).containsExactly(LossReason.FORCED);
    }
}
