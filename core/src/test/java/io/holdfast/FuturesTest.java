package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Acquisitions as futures")
@Timeout(60)
class FuturesTest {

    @Test
    void continuationsThatBlockDoNotKeepOtherFuturesWaiting() {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            int moreThanThreads = 4 * Runtime.getRuntime().availableProcessors() + 4;
            List<CompletableFuture<Void>> all = new ArrayList<>();

            for (int i = 0; i < moreThanThreads; i++) {
                DistributedLock inner = holdfast.lock("inner-" + i);
                all.add(holdfast.lock("outer-" + i).acquireAsync().thenAccept(outer -> {
                    try (outer;
                            Lease innerLease = inner.acquireAsync().join()) {
                        innerLease.requireValid();
                    }
                }));
            }

            assertThat(CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)))
                    .succeedsWithin(Duration.ofSeconds(20));
        }
    }

    @Test
    @DisplayName("P5 continuations that block do not keep the news of a loss waiting")
    void continuationsThatBlockDoNotKeepTheNewsOfALossWaiting() throws Exception {
        CountDownLatch unblock = new CountDownLatch(1);
        try (ManualClient client = new ManualClient()) {
            CompletableFuture<Loss> told = new CompletableFuture<>();
            client.lock("orders").acquire().onLost(told::complete);
            int moreThanThreads = 4 * Runtime.getRuntime().availableProcessors() + 4;
            blockCallbacks(client, moreThanThreads, new CountDownLatch(0), unblock);
            await().until(() -> client.holdfast.locks("blocked-").size() == moreThanThreads);
            client.store.network = FaultyStore.Network.DOWN;

            client.time.advance(TTL);

            assertThat(told).succeedsWithin(Duration.ofSeconds(10));
            unblock.countDown();
        } finally {
            unblock.countDown();
        }
    }

    static Stream<Arguments> outsideCompletions() {
        return Stream.of(
                outside("cancel", future -> future.cancel(true)),
                outside("orTimeout", future -> future.orTimeout(1, TimeUnit.MILLISECONDS)),
                outside("completeExceptionally", future -> future.completeExceptionally(new IllegalStateException())),
                outside("completeAsync", future -> future.completeAsync(() -> null)));
    }

    private static Arguments outside(String name, Consumer<CompletableFuture<?>> completion) {
        return Arguments.of(Named.of(name, completion));
    }

    @ParameterizedTest
    @MethodSource("outsideCompletions")
    @DisplayName("P7 a future that somebody else completes leaves the queue")
    void futureThatSomebodyElseCompletesLeavesTheQueue(Consumer<CompletableFuture<?>> completion) {
        try (ManualClient client = new ManualClient()) {
            client.holdElsewhere("orders");
            CompletableFuture<Lease> waiting = client.lock("orders").acquireAsync();
            await().until(() -> waiters(client, "orders") == 1);

            completion.accept(waiting);

            await().until(() -> waiters(client, "orders") == 0);
        }
    }

    @ParameterizedTest
    @MethodSource("outsideCompletions")
    @DisplayName("P7 a future of several locks that somebody else completes leaves nothing")
    void futureOfSeveralLocksThatSomebodyElseCompletesLeavesNothing(Consumer<CompletableFuture<?>> completion) {
        try (ManualClient client = new ManualClient()) {
            client.holdElsewhere("orders");
            CompletableFuture<MultiLease> waiting =
                    client.holdfast.lockAll("first", "orders").acquireAsync();
            await().until(() -> waiters(client, "orders") == 1);

            completion.accept(waiting);

            await().until(() -> waiters(client, "orders") == 0 && !client.isHeld("first"));
        }
    }

    @Test
    @DisplayName("P7 a lease nobody wants any more does not wait for busy callbacks")
    @EnabledForJreRange(
            max = JRE.JAVA_20,
            disabledReason = "since Java 21 every callback has a virtual thread of its own, so they are never busy")
    void leaseNobodyWantsAnyMoreDoesNotWaitForBusyCallbacks() {
        int threads = Math.max(4, 2 * Runtime.getRuntime().availableProcessors()); // as many as ClientExecutors makes
        CountDownLatch busy = new CountDownLatch(threads);
        CountDownLatch unblock = new CountDownLatch(1);
        try (ManualClient client = new ManualClient()) {
            blockCallbacks(client, threads, busy, unblock);
            awaitQuietly(busy);
            CompletableFuture<Lease> future = client.lock("orders").acquireAsync();
            await().until(() -> client.isHeld("orders"));

            assertThat(future.cancel(true))
                    .as("it was on its way to the future")
                    .isTrue();

            await().until(() -> !client.isHeld("orders"));
            unblock.countDown();
        } finally {
            unblock.countDown();
        }
    }

    /** Nothing is answered before all continuations are there: one that comes late would run, and block, here. */
    private static void blockCallbacks(
            ManualClient client, int number, CountDownLatch blocked, CountDownLatch unblock) {
        CountDownLatch continued = new CountDownLatch(1);
        client.store.beforeAnswer = () -> awaitQuietly(continued);
        for (int i = 0; i < number; i++) {
            client.lock("blocked-" + i).acquireAsync().thenRun(() -> {
                blocked.countDown();
                awaitQuietly(unblock);
            });
        }
        continued.countDown();
    }

    private static int waiters(ManualClient client, String name) {
        return client.lock(name).inspect().waiters().size();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    @DisplayName("P7 a future whose client closes at that moment is told so, every time")
    void futureWhoseClientClosesAtThatMomentIsToldSo() throws InterruptedException {
        try (Holdfast other = Holdfast.connect("memory:closing-at-that-moment");
                Lease held = other.lock("busy").acquire()) {
            for (int i = 0; i < 1_000; i++) {
                Holdfast closing = Holdfast.connect("memory:closing-at-that-moment");
                CompletableFuture<Lease> waiting = closing.lock("busy").acquireAsync();
                closing.close();

                assertThat(waiting).failsWithin(Duration.ofSeconds(10)).withThrowableOfType(ExecutionException.class);
            }
            assertThat(held.isValid()).isTrue();
        }
    }
}
