package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static io.holdfast.ManualClient.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What Java 21 makes easy with a virtual thread for each, and Java 17 does not. */
@DisplayName("Callbacks that block")
@Timeout(60)
class BlockingCallbacksTest {

    private static final int MANY = 12 + 8 * Runtime.getRuntime().availableProcessors();

    /** More than there are threads for callbacks of losses. */
    private static final int VERY_MANY = 100;

    @Test
    @DisplayName("P5 every loss is told though each callback waits for a lock")
    void everyLossIsToldThoughEachCallbackWaitsForALock() throws Exception {
        AtomicInteger told = new AtomicInteger();
        AtomicInteger served = new AtomicInteger();
        try (ManualClient client = new ManualClient();
                Holdfast other = Holdfast.connect("memory:")) {
            DistributedLock busy = other.lock("busy");
            Lease held = busy.acquire();
            for (int i = 0; i < VERY_MANY; i++) {
                client.lock("orders-" + i).acquire().onLost(loss -> {
                    told.incrementAndGet();
                    try {
                        busy.acquire().release();
                        served.incrementAndGet();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
            }
            client.store.network = FaultyStore.Network.DOWN;

            client.time.advance(TTL);

            await().untilAsserted(() -> assertThat(told).hasValue(VERY_MANY));
            held.release();
            await().untilAsserted(() -> assertThat(served).hasValue(VERY_MANY));
        }
    }

    @Test
    @DisplayName("P5 every loss is told though each callback blocks in its own way")
    void everyLossIsToldThoughEachCallbackBlocksInItsOwnWay() throws Exception {
        AtomicInteger told = new AtomicInteger();
        CountDownLatch unblock = new CountDownLatch(1);
        try (ManualClient client = new ManualClient()) {
            for (int i = 0; i < MANY; i++) {
                client.lock("orders-" + i).acquire().onLost(loss -> {
                    told.incrementAndGet();
                    awaitQuietly(unblock);
                });
            }
            client.store.network = FaultyStore.Network.DOWN;

            client.time.advance(TTL);

            await().untilAsserted(() -> assertThat(told).hasValue(MANY));
            unblock.countDown();
        } finally {
            unblock.countDown();
        }
    }

    @Test
    @DisplayName("P4 continuations that wait for locks make progress")
    void continuationsThatWaitForLocksMakeProgress() throws Exception {
        try (ManualClient client = new ManualClient();
                Holdfast other = Holdfast.connect("memory:")) {
            DistributedLock busy = other.lock("busy");
            Lease held = busy.acquire();
            List<CompletableFuture<Long>> all = new ArrayList<>();
            CountDownLatch waiting = new CountDownLatch(MANY);
            // Nothing is answered before all continuations are there: one that comes late would run, and block, here.
            CountDownLatch continued = new CountDownLatch(1);
            client.store.beforeAnswer = () -> awaitQuietly(continued);
            for (int i = 0; i < MANY; i++) {
                all.add(client.lock("outer-" + i).acquireAsync().thenApply(outer -> {
                    waiting.countDown();
                    try (outer;
                            Lease inner = busy.acquire()) {
                        return inner.token();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }));
            }
            continued.countDown();
            assertThat(waiting.await(20, TimeUnit.SECONDS)).isTrue();

            held.release();

            assertThat(CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)))
                    .succeedsWithin(Duration.ofSeconds(20));
        }
    }

    @Test
    @DisplayName("P4 a user's own pool of the fork-join kind waits for locks as it always did, however many wait")
    void usersOwnForkJoinPoolWaitsForLocks() throws Exception {
        // One thread, and none to make up for it.
        ForkJoinPool small = new ForkJoinPool(
                1, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, false, 1, 1, 1, null, 1, TimeUnit.SECONDS);
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            Lease held = holdfast.lock("busy").acquire();
            CompletableFuture<Long> waiting = CompletableFuture.supplyAsync(
                    () -> {
                        try (Lease lease = holdfast.lock("busy").acquire()) {
                            return lease.token();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    small);
            await().until(() -> holdfast.statistics().waiting() == 1);

            await().during(Duration.ofMillis(100)).until(() -> !waiting.isDone());
            held.release();

            assertThat(waiting).succeedsWithin(Duration.ofSeconds(10));
        } finally {
            small.shutdown();
        }
    }

    @Test
    void runWithTheContextClassLoaderOfWhoeverConnected() throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader applications = new URLClassLoader(new URL[0], before)) {
            Thread.currentThread().setContextClassLoader(applications);
            List<ClassLoader> seen = new CopyOnWriteArrayList<>();
            ManualClient client = new ManualClient(builder ->
                    builder.listener(event -> seen.add(Thread.currentThread().getContextClassLoader())));
            try (client) {
                client.lock("orders")
                        .acquire()
                        .onLost(loss -> seen.add(Thread.currentThread().getContextClassLoader()));
                client.store.network = FaultyStore.Network.DOWN;
                client.time.advance(TTL);

                // Requested, granted, lost; and the callback.
                await().untilAsserted(() -> assertThat(seen).hasSizeGreaterThanOrEqualTo(4));
                assertThat(seen).containsOnly(applications);
            }
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }
}
