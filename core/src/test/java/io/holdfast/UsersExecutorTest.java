package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockStatistics.StoreOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A user's executor")
@Timeout(60)
class UsersExecutorTest {

    private final CountDownLatch unblock = new CountDownLatch(1);

    @AfterEach
    void unblock() {
        unblock.countDown();
    }

    @Test
    @DisplayName("P4 that blocks keeps no lease from being renewed")
    void thatBlocksKeepsNoLeaseFromBeingRenewed() throws InterruptedException {
        CountDownLatch blocked = new CountDownLatch(1);
        try (ManualClient client = blocking(blocked)) {
            Lease lease = client.lock("orders").acquire();
            assertThat(blocked.await(10, TimeUnit.SECONDS)).isTrue();

            for (int i = 1; i <= 6; i++) {
                int renewals = i;
                client.passUntil(TTL.dividedBy(30), () -> answered(client, StoreOperation.RENEW) >= renewals);
            }

            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    @DisplayName("P5 that blocks keeps no lease from ending, nor its future from completing")
    void thatBlocksKeepsNoLeaseFromEnding() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        try (ManualClient client = blocking(blocked)) {
            List<Lease> leases = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                Lease lease = client.lock("orders-" + i).acquire();
                lease.onLost(loss -> {});
                leases.add(lease);
            }
            client.store.network = FaultyStore.Network.DOWN;

            client.time.advance(TTL);

            await().untilAsserted(() -> assertThat(leases).noneMatch(Lease::isValid));
            client.store.network = FaultyStore.Network.UP;
            assertThat(client.lock("free").acquireAsync()).succeedsWithin(Duration.ofSeconds(10));
        }
    }

    @Test
    @DisplayName("P4 may be the pool in which locks are waited for")
    void mayBeThePoolInWhichLocksAreWaitedFor() throws Exception {
        int threads = 3;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try (Holdfast holdfast = Holdfast.builder()
                .store("memory:")
                .executor(pool)
                .listener(event -> {})
                .connect()) {
            DistributedLock lock = holdfast.lock("orders");
            Lease held = lock.acquire();
            List<Future<Long>> served = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                served.add(pool.submit(() -> {
                    // A thread of the pool waits for a future of the same pool.
                    try (Lease lease = lock.acquireAsync().join()) {
                        return lease.token();
                    }
                }));
            }

            held.release();

            for (Future<Long> token : served) {
                assertThat(token.get(20, TimeUnit.SECONDS)).isPositive();
            }
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    @DisplayName("P5 of one thread with a slow listener on it lets a loss be told between two events")
    void ofOneThreadWithASlowListenerLetsALossBeToldBetweenTwoEvents() throws Exception {
        int events = 400;
        AtomicInteger heard = new AtomicInteger();
        CountDownLatch begin = new CountDownLatch(1);
        LinkedBlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
        ExecutorService one = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, queue);
        ManualClient client = new ManualClient(builder -> builder.executor(one).listener(event -> {
            awaitQuietly(begin);
            heard.incrementAndGet();
            awaitQuietly(unblock, Duration.ofMillis(25));
        }));
        try (client) {
            Lease lease = client.lock("orders").acquire();
            CompletableFuture<Integer> told = new CompletableFuture<>();
            lease.onLost(loss -> told.complete(heard.get()));
            for (int i = 0; i < events / 4; i++) {
                client.lock("busy").acquire().release(); // three events each
            }
            client.store.network = FaultyStore.Network.DOWN;
            client.time.advance(TTL);
            // The thread is busy with an event, so what the executor is given now has to wait: the news of the loss.
            await().until(() -> !queue.isEmpty());
            begin.countDown();

            assertThat(told.get(30, TimeUnit.SECONDS)).as("events heard before").isLessThan(20);
            unblock.countDown();
        } finally {
            begin.countDown();
            unblock.countDown();
            one.shutdown();
        }
    }

    @Test
    @DisplayName("P5 for one callback that refuses it does not keep the loss from being told")
    void forOneCallbackThatRefusesItDoesNotKeepTheLossFromBeingTold() throws InterruptedException {
        try (ManualClient client = new ManualClient()) {
            ExecutorService closed = Executors.newSingleThreadExecutor();
            closed.shutdown();
            CompletableFuture<Loss> told = new CompletableFuture<>();
            client.lock("orders").acquire().onLost(told::complete, closed);
            client.store.network = FaultyStore.Network.DOWN;

            client.time.advance(TTL);

            assertThat(told).succeedsWithin(Duration.ofSeconds(10));
        }
    }

    @Test
    @DisplayName("P5 for one callback is where that callback runs")
    void forOneCallbackIsWhereThatCallbackRuns() throws Exception {
        ExecutorService special = Executors.newSingleThreadExecutor(task -> new Thread(task, "special"));
        try (ManualClient client = new ManualClient()) {
            CompletableFuture<String> told = new CompletableFuture<>();
            client.lock("orders")
                    .acquire()
                    .onLost(loss -> told.complete(Thread.currentThread().getName()), special);
            client.store.network = FaultyStore.Network.DOWN;

            client.time.advance(TTL);

            assertThat(told.get(10, TimeUnit.SECONDS)).isEqualTo("special");
        } finally {
            special.shutdown();
        }
    }

    @Test
    @DisplayName("P5 for one callback gets it though the client's executor blocks, of one lock and of several")
    void forOneCallbackGetsItThoughTheClientsExecutorBlocks() throws InterruptedException {
        try (ManualClient client = blocking(new CountDownLatch(1))) {
            CompletableFuture<Loss> told = new CompletableFuture<>();
            CompletableFuture<Loss> toldOfSeveral = new CompletableFuture<>();
            client.lock("orders").acquire().onLost(told::complete, Runnable::run);
            client.holdfast.lockAll("stock", "bills").acquire().onLost(toldOfSeveral::complete, Runnable::run);
            client.store.network = FaultyStore.Network.DOWN;

            client.time.advance(TTL);

            assertThat(told).succeedsWithin(Duration.ofSeconds(10));
            assertThat(toldOfSeveral).succeedsWithin(Duration.ofSeconds(10));
        }
    }

    private ManualClient blocking(CountDownLatch blocked) {
        return new ManualClient(builder -> builder.listener(event -> {}).executor(task -> {
            blocked.countDown();
            awaitQuietly(unblock);
        }));
    }

    private static long answered(ManualClient client, StoreOperation operation) {
        return client.holdfast.statistics().requests().get(operation).answered();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        awaitQuietly(latch, Duration.ofSeconds(60));
    }

    private static void awaitQuietly(CountDownLatch latch, Duration longest) {
        try {
            latch.await(longest.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
