package io.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ClientClosedException;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryStore;
import io.holdfast.tck.StoreTap.Operation;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Every future of the engine gets its outcome, and the right one. */
class AsyncOutcomeTest {

    /** The push wakes an acquisition that has seen its grant already; the second look must not count as another end. */
    @Test
    void aPushThatOvertakesItsAnswerIsAGrant() throws Exception {
        StoreTap tap = new StoreTap(MemoryStore.named("overtaken"));
        LastFirst executor = new LastFirst();
        try (Holdfast other = Holdfast.connect("memory:overtaken");
                Holdfast client =
                        Holdfast.builder().store(tap).executor(executor).connect()) {
            Lease holder = other.lock("a").acquire();
            tap.on(Operation.QUEUE, call -> {
                Object answer = call.proceed();
                holder.release();
                return answer;
            });

            CompletableFuture<Optional<Lease>> lease =
                    client.lock("a", LockOptions.defaults()).tryAcquireAsync(Duration.ofSeconds(10));

            assertThat(lease.get(10, TimeUnit.SECONDS)).isPresent();
        }
    }

    /** The executor ends between the end of the acquisition and the telling of it. */
    @Test
    void aFutureOfAClosedClientIsCompletedThoughItsExecutorTakesNoMoreWork() throws Exception {
        AtomicInteger tasks = new AtomicInteger();
        Holdfast client = Holdfast.builder()
                .store("memory:closed")
                .executor(task -> {
                    // The first look and the one close() asks for; no more.
                    if (tasks.getAndIncrement() >= 2) {
                        throw new RejectedExecutionException("full");
                    }
                    task.run();
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

    /** Runs what a task submits after it, the last first. */
    private static final class LastFirst implements Executor {

        private final Deque<Runnable> stack = new ArrayDeque<>();
        private boolean running;

        @Override
        public synchronized void execute(Runnable task) {
            stack.push(task);
            if (!running) {
                running = true;
                while (!stack.isEmpty()) {
                    stack.pop().run();
                }
                running = false;
            }
        }
    }
}
