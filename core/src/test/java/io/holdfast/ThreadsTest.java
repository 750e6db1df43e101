package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.Ticket;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

@DisplayName("Threads")
class ThreadsTest {

    private static final int MANY = 10_000;

    @Test
    void tenThousandLeasesAddNoThread() throws InterruptedException {
        try (ManualClient client = new ManualClient(builder -> builder.name("ten-thousand"))) {
            List<Lease> leases = new ArrayList<>();
            leases.add(client.lock("first").acquire());
            long before = threadsOf("ten-thousand");
            int allBefore = Thread.activeCount();

            for (int i = 0; i < MANY; i++) {
                leases.add(client.lock("lease-" + i).acquire());
            }
            Duration renewed = ManualClient.TTL.dividedBy(10).multipliedBy(9);
            client.time.advance(ManualClient.TTL.dividedBy(3));
            await().until(() ->
                    leases.stream().allMatch(lease -> lease.remaining().compareTo(renewed) > 0));

            assertThat(threadsOf("ten-thousand"))
                    .as("one thread renews them all")
                    .isBetween(1L, before + 1);
            assertThat(Thread.activeCount())
                    .as("whatever they are called, but for a few of the test's")
                    .isLessThan(allBefore + 10);
        }
    }

    @Test
    void ofAClientWhoseStoreCannotBeOpenedEndWhateverThatThrows() {
        HoldfastBuilder builder = Holdfast.builder().name("not-opened").store(context -> {
            Sneaky.sneak(new IOException("the store's own"));
            throw new AssertionError("not reached");
        });

        assertThatThrownBy(builder::connect).isInstanceOf(IOException.class);

        await().until(() -> threadsOf("not-opened") == 0);
    }

    @Test
    @DisplayName("P9 requests that hang at one server hold up no release at another")
    void requestsThatHangAtOneServerHoldUpNoReleaseAtAnother() throws Exception {
        try (ManualClient client = new ManualClient()) {
            Lease good = client.lock("good").acquire();
            CountDownLatch answer = hangAtAnotherServer(client);
            try {
                assertThat(good.releaseAsync())
                        .succeedsWithin(Duration.ofSeconds(10))
                        .isEqualTo(ReleaseResult.RELEASED);
                assertThat(client.isHeld("good")).isFalse();
            } finally {
                answer.countDown();
            }
        }
    }

    @Test
    @DisplayName("P9 nor a future that is granted or cancelled there")
    void norAFutureThatIsGrantedOrCancelledThere() throws Exception {
        try (ManualClient client = new ManualClient()) {
            Ticket elsewhere = client.holdElsewhere("granted");
            CompletableFuture<Lease> granted = client.lock("granted").acquireAsync();
            client.holdElsewhere("cancelled");
            CompletableFuture<Lease> cancelled = client.lock("cancelled").acquireAsync();
            await().until(() -> !client.lock("granted").inspect().waiters().isEmpty()
                    && !client.lock("cancelled").inspect().waiters().isEmpty());
            CountDownLatch answer = hangAtAnotherServer(client);
            try {
                client.releaseElsewhere(elsewhere);
                cancelled.cancel(true);

                assertThat(granted).succeedsWithin(Duration.ofSeconds(10));
                await().atMost(Duration.ofSeconds(10))
                        .until(() ->
                                client.lock("cancelled").inspect().waiters().isEmpty());
            } finally {
                answer.countDown();
            }
        }
    }

    /** Until then; by more requests than there are threads before Java 21. */
    private static CountDownLatch hangAtAnotherServer(ManualClient client) {
        CountDownLatch answer = new CountDownLatch(1);
        CountDownLatch hanging = new CountDownLatch(4);
        client.store.serverOf = name -> name.startsWith("bad-") ? "silent" : "";
        client.store.beforeAsk = () -> {
            hanging.countDown();
            ManualClient.awaitQuietly(answer);
        };
        for (int i = 0; i < 400; i++) {
            client.lock("bad-" + i).acquireAsync();
        }
        ManualClient.awaitQuietly(hanging);
        return answer;
    }

    private static long threadsOf(String client) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("holdfast-" + client))
                .count();
    }

    @Test
    void tenThousandWaitingFuturesAddNoThreadEach() throws Exception {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            DistributedLock lock = holdfast.lock("hot");
            Lease held = lock.acquire();
            int before = Thread.activeCount();
            List<CompletableFuture<Lease>> futures = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                CompletableFuture<Lease> future = lock.acquireAsync();
                future.thenAccept(Lease::close);
                futures.add(future);
            }
            assertThat(Thread.activeCount())
                    .isLessThanOrEqualTo(before + 2 * Runtime.getRuntime().availableProcessors() + 8);

            held.close();

            CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    @EnabledForJreRange(
            min = JRE.JAVA_21,
            disabledReason = "virtual threads came with Java 21; ./test --full runs this on 25")
    void tenThousandVirtualThreadsWaitingOnLocksAllFinish() throws Exception {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            ExecutorService virtual = virtualThreads();
            List<Future<Long>> tokens = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                DistributedLock lock = holdfast.lock(
                        "lock-" + i % 10,
                        LockOptions.defaults().withFairness(i % 2 == 0 ? Fairness.FIFO : Fairness.BALANCED));
                tokens.add(virtual.submit(() -> {
                    try (Lease lease = lock.acquire()) {
                        Thread.yield();
                        return lease.token();
                    }
                }));
            }
            for (Future<Long> token : tokens) {
                assertThat(token.get(60, TimeUnit.SECONDS)).isPositive();
            }
            virtual.shutdown();
        }
    }

    private static ExecutorService virtualThreads()
            throws NoSuchMethodException, IllegalAccessException, InvocationTargetException {
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }
}
