package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static io.holdfast.ManualClient.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("The clean-up")
@Timeout(60)
class CleanupTest {

    @Test
    void waitsOnlyAMomentForWhatHasExpiredWhileItWaitedBehindARequestThatHung() {
        List<Duration> limits = new CopyOnWriteArrayList<>();
        CountDownLatch answer = new CountDownLatch(1);
        try (ManualClient client = new ManualClient()) {
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (String name : List.of("hangs", "behind", "further-behind")) {
                waiting.add(queue(client, name));
            }
            client.store.withdrawalWithin = deadline -> limits.add(deadline.remaining());
            client.store.beforeWithdrawal = () -> awaitQuietly(answer);
            waiting.forEach(future -> {
                future.cancel(true);
                await().until(() -> !limits.isEmpty());
            });
            await().until(() -> client.holdfast.statistics().waiting() == 0);

            client.time.advance(TTL.multipliedBy(2));
            answer.countDown();

            await().until(() -> limits.size() == 3);
            assertThat(limits.get(0)).isGreaterThan(Duration.ofSeconds(1));
            assertThat(limits.subList(1, 3)).allMatch(limit -> limit.compareTo(Duration.ofSeconds(1)) < 0);
            await().until(() -> client.holdfast.locks("").stream()
                    .allMatch(lock -> lock.waiters().isEmpty()));
        } finally {
            answer.countDown();
        }
    }

    private static CompletableFuture<Lease> queue(ManualClient client, String name) {
        client.holdElsewhere(name);
        CompletableFuture<Lease> waiting = client.lock(name).acquireAsync();
        await().until(() -> !client.lock(name).inspect().waiters().isEmpty());
        return waiting;
    }
}
