package io.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ClientClosedException;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryStore;
import io.holdfast.tck.tap.StoreTap;
import io.holdfast.tck.tap.StoreTap.Operation;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Every future of the engine gets its outcome, and the right one. */
class AsyncOutcomeTest {

    /** The push wakes an acquisition that will have seen its grant by then; the second look must not count as another end. */
    @RepeatedTest(20)
    void aPushThatOvertakesItsAnswerIsAGrant() throws Exception {
        StoreTap tap = new StoreTap(MemoryStore.named("overtaken"));
        try (Holdfast other = Holdfast.connect("memory:overtaken");
                Holdfast client = Holdfast.builder().store(tap).connect()) {
            Lease holder = other.lock("a").acquire();
            tap.on(Operation.QUEUE, call -> {
                Object answer = call.proceed();
                holder.release();
                return answer;
            });

            CompletableFuture<Optional<Lease>> lease =
                    client.lock("a", LockOptions.defaults()).tryAcquireAsync(Duration.ofSeconds(10));

            assertThat(lease.get(10, TimeUnit.SECONDS)).hasValueSatisfying(Lease::requireValid);
        }
    }

    @Test
    void aFutureOfAClosedClientIsCompletedThoughTheUsersExecutorTakesNoWork() throws Exception {
        Holdfast client = Holdfast.builder()
                .store("memory:closed")
                .executor(task -> {
                    throw new RejectedExecutionException("full");
                })
                .connect();
        try (Holdfast other = Holdfast.connect("memory:closed");
                Lease holder = other.lock("a").acquire()) {
            CompletableFuture<Lease> waiter = client.lock("a").acquireAsync();

            client.close();

            assertThatThrownBy(() -> waiter.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(ClientClosedException.class);
            assertThat(holder.isValid()).isTrue();
        }
    }
}
