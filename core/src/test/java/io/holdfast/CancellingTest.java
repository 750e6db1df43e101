package io.holdfast;

import static io.holdfast.ManualClient.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Cancelling a future")
@Timeout(60)
class CancellingTest {

    private final ManualClient client = new ManualClient();
    private final CountDownLatch answer = new CountDownLatch(1);

    @AfterEach
    void close() {
        answer.countDown();
        client.close();
    }

    /** What a future is of. */
    enum Kind {
        LOCK {
            @Override
            CompletableFuture<?> acquire(Holdfast holdfast) {
                return holdfast.lock("taken").acquireAsync();
            }
        },
        SEVERAL {
            @Override
            CompletableFuture<?> acquire(Holdfast holdfast) {
                return holdfast.lockAll("first", "taken").acquireAsync();
            }
        },
        WORK {
            @Override
            CompletableFuture<?> acquire(Holdfast holdfast) {
                return holdfast.lockAll("first", "taken").callAsync(lease -> CompletableFuture.completedFuture(1));
            }
        },
        CAMPAIGN {
            @Override
            CompletableFuture<?> acquire(Holdfast holdfast) {
                return holdfast.election("taken").campaignAsync();
            }
        };

        abstract CompletableFuture<?> acquire(Holdfast holdfast);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @DisplayName("P7 returns at once though the store does not answer, and leaves nothing")
    void returnsAtOnceThoughTheStoreDoesNotAnswer(Kind kind) {
        client.holdElsewhere("taken");
        CompletableFuture<?> waiting = kind.acquire(client.holdfast);
        await().until(() -> !client.lock("taken").inspect().waiters().isEmpty());
        client.store.beforeRelease = () -> awaitQuietly(answer);
        client.store.beforeAnswer = () -> awaitQuietly(answer);

        CompletableFuture<Boolean> cancelled = CompletableFuture.supplyAsync(() -> waiting.cancel(true));

        assertThat(cancelled).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(true);
        answer.countDown();
        await().until(() -> client.lock("taken").inspect().waiters().isEmpty() && !client.isHeld("first"));
    }

    @Test
    @DisplayName("P7 by a time limit does not hold up the JVM's one thread for time limits")
    void byATimeLimitDoesNotHoldUpTheThreadForTimeLimits() {
        client.holdElsewhere("taken");
        CompletableFuture<?> waiting = Kind.SEVERAL.acquire(client.holdfast);
        await().until(() -> !client.lock("taken").inspect().waiters().isEmpty());
        client.store.beforeRelease = () -> awaitQuietly(answer);

        waiting.orTimeout(1, TimeUnit.MILLISECONDS);
        await().until(waiting::isDone);
        CompletableFuture<String> unrelated =
                new CompletableFuture<String>().completeOnTimeout("in time", 1, TimeUnit.MILLISECONDS);

        assertThat(unrelated).succeedsWithin(Duration.ofSeconds(5));
    }

    @Test
    @DisplayName("P7 of work that has begun cancels the work's stage and releases the lock")
    void ofWorkThatHasBegunCancelsTheWorksStage() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> whole = client.lock("orders").callAsync(lease -> stage);
        await().until(() -> client.isHeld("orders"));

        whole.cancel(true);

        await().until(stage::isCancelled);
        await().until(() -> !client.isHeld("orders"));
    }
}
