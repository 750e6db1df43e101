package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockEvent.Outcome;
import io.holdfast.LockStatistics.StoreOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Statistics")
@Timeout(60)
class StatisticsTest {

    private final ManualClient client = new ManualClient(builder -> builder.localHandoff(64, Duration.ofMinutes(1)));

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void countGrantsHandoversAndReleases() throws Exception {
        Lease first = client.lock("orders").acquire();
        Background<Lease> next = Background.run(() -> client.lock("orders").acquire());
        await().until(next::isParked);
        assertThat(now().waiting()).isEqualTo(1);
        assertThat(now().held()).isEqualTo(1);

        first.release();
        next.get(10, TimeUnit.SECONDS).release();

        assertThat(now().granted()).isEqualTo(1);
        assertThat(now().handedOver()).isEqualTo(1);
        assertThat(now().released()).isEqualTo(2);
        assertThat(now().waiting()).isZero();
        assertThat(now().held()).isZero();
    }

    @Test
    void countHowAcquisitionsEndWithoutALease() throws Exception {
        client.holdElsewhere("taken");
        DistributedLock taken = client.lock("taken");
        taken.tryAcquire();
        CompletableFuture<Lease> cancelled = taken.acquireAsync();
        await().until(() -> !taken.inspect().waiters().isEmpty());
        cancelled.cancel(true);
        Background<Boolean> late =
                Background.run(() -> taken.tryAcquire(Duration.ofMillis(1)).isPresent());
        await().until(late::isParked);
        client.time.advance(Duration.ofMillis(1));
        late.get(10, TimeUnit.SECONDS);
        client.store.network = FaultyStore.Network.DOWN;
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(taken::tryAcquire);

        await().untilAsserted(() -> assertThat(now().unsuccessful())
                .containsEntry(Outcome.TAKEN, 1L)
                .containsEntry(Outcome.CANCELLED, 1L)
                .containsEntry(Outcome.TIMED_OUT, 1L)
                .containsEntry(Outcome.FAILED, 1L)
                .containsEntry(Outcome.INTERRUPTED, 0L));
        assertThat(now().waiting()).isZero();
    }

    @Test
    void balanceThoughFuturesAreCancelledBeforeTheyBegin() {
        client.holdElsewhere("taken");
        List<CompletableFuture<Lease>> all = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            CompletableFuture<Lease> future = client.lock("taken").acquireAsync();
            future.cancel(true);
            all.add(future);
        }

        await().untilAsserted(() -> assertThat(now().unsuccessful()).containsEntry(Outcome.CANCELLED, 200L));
        await().during(Duration.ofMillis(50)).until(() -> now().waiting() == 0);
    }

    @Test
    void balanceThoughTheClientIsClosed() {
        DistributedLock lock = client.lock("orders");
        client.holdfast.close();

        assertThatExceptionOfType(ClientClosedException.class).isThrownBy(lock::acquire);
        assertThat(lock.acquireAsync())
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(ClientClosedException.class);

        assertThat(now().waiting()).isZero();
        assertThat(now().unsuccessful()).containsEntry(Outcome.CLOSED, 2L);
    }

    @Test
    void countLossesRenewalsAndRequests() throws Exception {
        client.store.beforeAsk = () -> client.time.advance(Duration.ofMillis(7));
        Lease lease = client.lock("orders").acquire();
        client.passUntil(TTL.dividedBy(30), () -> now().renewed() == 1);
        client.store.network = FaultyStore.Network.DOWN;
        client.passUntil(TTL.dividedBy(30), () -> now().renewalsFailed() >= 2);
        client.time.advance(TTL);
        await().until(() -> !lease.isValid());

        await().untilAsserted(() ->
                assertThat(now().lost()).containsEntry(LossReason.EXPIRED, 1L).containsEntry(LossReason.GONE, 0L));
        assertThat(now().held()).isZero();
        assertThat(now().requests().get(StoreOperation.QUEUE).answered()).isEqualTo(1);
        assertThat(now().requests().get(StoreOperation.RENEW).answered()).isEqualTo(1);
        assertThat(now().requests().get(StoreOperation.RENEW).failed()).isGreaterThanOrEqualTo(2);
        assertThat(now().requests().get(StoreOperation.QUEUE).total()).isEqualTo(Duration.ofMillis(7));
    }

    /** Every acquisition ends in one way and every lease too, so what came in went out. */
    @Test
    void loseNoEventUnderContention() throws Exception {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            int threads = 8;
            int rounds = 500;
            List<Background<Integer>> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                all.add(Background.run(() -> {
                    int got = 0;
                    for (int round = 0; round < rounds; round++) {
                        var lease = holdfast.lock("hot").tryAcquire(Duration.ofNanos(1 + round * 1_000));
                        got += lease.isPresent() ? 1 : 0;
                        lease.ifPresent(Lease::close);
                    }
                    return got;
                }));
            }
            int got = 0;
            for (Background<Integer> each : all) {
                got += each.get(50, TimeUnit.SECONDS);
            }

            LockStatistics all8 = holdfast.statistics();
            assertThat(all8.granted() + all8.handedOver()).isEqualTo(got);
            assertThat(all8.released()).isEqualTo(got);
            assertThat(all8.unsuccessful().values().stream()
                            .mapToLong(Long::longValue)
                            .sum())
                    .isEqualTo((long) threads * rounds - got);
            assertThat(all8.waiting()).isZero();
            assertThat(all8.held()).isZero();
        }
    }

    private LockStatistics now() {
        return client.holdfast.statistics();
    }
}
