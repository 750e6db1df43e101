package io.holdfast;

import static io.holdfast.ManualClient.OPTIONS;
import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The request is sent in time, its answer comes when the lease has just ended here. */
@DisplayName("A renewal answered at the end of its lease")
@Timeout(120)
class LateAnswerTest {

    private static final int LEASES = 2_000;
    private static final int ROUNDS = 8;

    private final LateTimer time = new LateTimer();
    private final ManualClient client = new ManualClient(builder -> builder.time(time));
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch answer = new CountDownLatch(1);

    @AfterEach
    void close() {
        answer.countDown();
        time.timerIsLate = false;
        time.clock.advance(Duration.ZERO);
        ManualClient.close(client.holdfast, time.clock);
    }

    @Test
    @DisplayName("P5 a lease that was not valid is never valid again")
    void leaseThatWasNotValidIsNeverValidAgain() throws Exception {
        Lease lease = client.lock("orders").acquire();
        CountDownLatch lost = new CountDownLatch(1);
        lease.onLost(loss -> lost.countDown());
        client.store.beforeAnswer = this::answerLate;
        time.clock.advance(TTL.dividedBy(3));
        assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
        time.timerIsLate = true;
        time.clock.advance(TTL.multipliedBy(2).dividedBy(3));
        assertThat(lease.isValid()).isFalse();

        client.store.beforeAnswer = () -> {};
        answer.countDown();

        await().during(Duration.ofMillis(200))
                .untilAsserted(() -> assertThat(lease.isValid()).isFalse());
        assertThat(lease.remaining()).isZero();
        time.timerIsLate = false;
        time.clock.advance(Duration.ZERO);
        assertThat(lost.await(10, TimeUnit.SECONDS)).isTrue();
        await().until(() -> !client.isHeld("orders"));
    }

    @Test
    @DisplayName("P5 an extension answered after its lease was seen to end is refused, and the lock goes back")
    void extensionAnsweredAfterItsLeaseWasSeenToEndIsRefused() throws Exception {
        Lease lease = client.holdfast
                .lock("orders", OPTIONS.withRenewal(Renewal.NONE))
                .acquire();
        client.store.beforeAnswer = this::answerLate;
        Background<Boolean> extending = Background.run(() -> {
            lease.extend(Duration.ofHours(1));
            return true;
        });
        assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
        time.timerIsLate = true;
        time.clock.advance(TTL);
        assertThat(lease.isValid()).isFalse();

        client.store.beforeAnswer = () -> {};
        answer.countDown();

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> extending.get(10, TimeUnit.SECONDS))
                .withCauseInstanceOf(LeaseLostException.class);
        time.timerIsLate = false;
        time.clock.advance(Duration.ZERO);
        await().until(() -> !client.isHeld("orders"));
    }

    /** Timer and answers walk through the same leases side by side, so they meet at many of them. */
    @Test
    @DisplayName("P5 every lease has ended and its holder was told, or it is renewed on")
    void everyLeaseHasEndedAndItsHolderWasToldOrItIsRenewedOn() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            AtomicInteger told = new AtomicInteger();
            List<Lease> leases = new ArrayList<>();
            for (int i = 0; i < LEASES; i++) {
                Lease lease = client.lock("orders-" + i).acquire();
                lease.onLost(loss -> told.incrementAndGet());
                leases.add(lease);
            }
            CountDownLatch sent = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            client.store.beforeAnswer = () -> {
                sent.countDown();
                awaitQuietly(go);
            };
            time.clock.advance(TTL.dividedBy(3));
            assertThat(sent.await(10, TimeUnit.SECONDS)).isTrue();
            client.store.beforeAnswer = () -> {};

            go.countDown();
            time.clock.advance(TTL.multipliedBy(2).dividedBy(3));

            client.store.network = FaultyStore.Network.DOWN;
            passUntil(() -> leases.stream().noneMatch(Lease::isValid));
            await().untilAsserted(() -> assertThat(told).hasValue(LEASES));
            client.store.network = FaultyStore.Network.UP;
            passUntil(() -> client.holdfast.locks("orders-").isEmpty());
        }
    }

    private void passUntil(BooleanSupplier condition) {
        await().until(() -> {
            time.clock.advance(TTL);
            return condition.getAsBoolean();
        });
    }

    private void answerLate() {
        asked.countDown();
        awaitQuietly(answer);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A clock moved by hand, and a timer thread that can be made to oversleep. */
    private static final class LateTimer implements TimeSource {

        private final ManualTime clock = new ManualTime();
        private volatile boolean timerIsLate;

        @Override
        public long nanoTime() {
            return clock.nanoTime();
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            do {
                clock.parkUntil(blocker, untilNanos);
            } while (timerIsLate && Thread.currentThread().getName().endsWith("-timer"));
        }
    }
}
