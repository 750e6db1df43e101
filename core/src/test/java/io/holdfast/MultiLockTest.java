package io.holdfast;

import static io.holdfast.ManualClient.OPTIONS;
import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Several locks at once")
@Timeout(60)
class MultiLockTest {

    private static final LockOptions FIXED = OPTIONS.withRenewal(Renewal.NONE);

    private final List<LockEvent> events = new CopyOnWriteArrayList<>();
    private final ManualClient client = new ManualClient(builder -> builder.listener(events::add));

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    @DisplayName("P1 all are held when the last has been waited for")
    void allAreHeldWhenTheLastHasBeenWaitedFor() throws Exception {
        assertValidThoughTheFirstIsLostMeanwhile(all -> Background.run(all::acquire));
    }

    @Test
    void waitWithALimitBeginsAnewWhenOneIsLostMeanwhile() throws Exception {
        assertValidThoughTheFirstIsLostMeanwhile(
                all -> Background.run(() -> all.tryAcquire(Duration.ofHours(1)).orElseThrow()));
    }

    @Test
    @DisplayName("P1 all are held when their future completes")
    void allAreHeldWhenTheirFutureCompletes() throws Exception {
        assertValidThoughTheFirstIsLostMeanwhile(MultiLock::acquireAsync);
    }

    private void assertValidThoughTheFirstIsLostMeanwhile(Function<MultiLock, CompletableFuture<MultiLease>> way)
            throws Exception {
        Lease last = client.holdfast
                .lock("b", LockOptions.defaults().withTtl(Duration.ofHours(1)))
                .acquire();
        CompletableFuture<MultiLease> both = way.apply(client.holdfast.lockAll(List.of("a", "b"), FIXED));
        await().until(() -> events.stream()
                .anyMatch(event ->
                        event instanceof LockEvent.Granted && event.name().equals("a")));

        client.time.advance(TTL);
        await().until(() -> !client.isHeld("a"));
        last.release();

        assertThat(both.get(30, TimeUnit.SECONDS).isValid()).isTrue();
    }

    @Test
    void timeLimitIsForAllOfThemTogether() throws InterruptedException {
        Duration limit = Duration.ofMillis(1500);
        Deadline deadline = Deadline.after(client.time, limit);
        AtomicInteger late = new AtomicInteger();
        client.store.beforeAsk = () -> late.addAndGet(deadline.hasPassed() ? 1 : 0);
        client.store.afterAsk = ticket -> client.time.advance(Duration.ofSeconds(1));

        Optional<MultiLease> all = client.holdfast.lockAll("a", "b", "c", "d").tryAcquire(limit);

        assertThat(all).isEmpty();
        assertThat(late).hasValue(0);
        await().until(() -> client.holdfast.locks("").isEmpty());
    }

    @Test
    void futureWithoutATimeLimitIsNotBoundByTheNumberOfTries() throws Exception {
        int tries = 3;
        LockOptions polling =
                OPTIONS.withWaiting(Waiting.poll().every(Duration.ofMillis(5)).withTries(tries));
        Ticket elsewhere = client.holdElsewhere("b");

        CompletableFuture<MultiLease> both =
                client.holdfast.lockAll(List.of("a", "b"), polling).acquireAsync();
        client.passUntil(Duration.ofMillis(5), () -> client.store.asks.get() > 2 * tries);
        client.releaseElsewhere(elsewhere);
        client.passUntil(Duration.ofMillis(5), both::isDone);

        assertThat(both.get().isValid()).isTrue();
    }
}
