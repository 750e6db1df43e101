package io.holdfast;

import static io.holdfast.ManualClient.OPTIONS;
import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
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

@DisplayName("The shortest hold")
@Timeout(60)
class MinHoldTest {

    private static final Duration MIN_HOLD = TTL.dividedBy(2);
    private static final LockOptions OPTIONS_WITH_MIN_HOLD = OPTIONS.withMinHold(MIN_HOLD);

    /** Gets "orders" and gives it back at once. */
    private interface Use {
        void of(Holdfast holdfast) throws Exception;
    }

    static Stream<Arguments> uses() {
        return Stream.of(
                use("acquire", holdfast -> lock(holdfast).acquire().release()),
                use(
                        "tryAcquire",
                        holdfast -> lock(holdfast).tryAcquire().orElseThrow().release()),
                use(
                        "tryAcquire(Duration)",
                        holdfast -> lock(holdfast).tryAcquire(TTL).orElseThrow().release()),
                use(
                        "acquireAsync",
                        holdfast -> lock(holdfast).acquireAsync().get().release()),
                use(
                        "acquireAsync, continued",
                        holdfast -> lock(holdfast)
                                .acquireAsync()
                                .thenAccept(Lease::release)
                                .get()),
                use(
                        "tryAcquireAsync",
                        holdfast -> lock(holdfast)
                                .tryAcquireAsync(TTL)
                                .get()
                                .orElseThrow()
                                .release()),
                use("asReentrantLock", MinHoldTest::lockAndUnlock),
                use(
                        "semaphore",
                        holdfast -> holdfast.semaphore("orders", 1, OPTIONS_WITH_MIN_HOLD)
                                .acquire()
                                .release()),
                use("lockAll", holdfast -> all(holdfast).acquire().release()),
                use(
                        "lockAll, async",
                        holdfast -> all(holdfast).acquireAsync().get().release()),
                use(
                        "lockAll, continued",
                        holdfast -> all(holdfast)
                                .acquireAsync()
                                .thenAccept(MultiLease::release)
                                .get()),
                use("downgrade", MinHoldTest::downgradeAndRelease),
                use("election", MinHoldTest::campaignAndResign),
                use("election, async", MinHoldTest::campaignAsyncAndResign));
    }

    private static Arguments use(String name, Use use) {
        return Arguments.of(Named.of(name, use));
    }

    private static DistributedLock lock(Holdfast holdfast) {
        return holdfast.lock("orders", OPTIONS_WITH_MIN_HOLD);
    }

    private static MultiLock all(Holdfast holdfast) {
        return holdfast.lockAll(List.of("orders", "stock"), OPTIONS_WITH_MIN_HOLD);
    }

    private static void lockAndUnlock(Holdfast holdfast) {
        java.util.concurrent.locks.Lock lock = lock(holdfast).asReentrantLock();
        lock.lock();
        lock.unlock();
    }

    private static void downgradeAndRelease(Holdfast holdfast) throws InterruptedException {
        DistributedReadWriteLock lock = holdfast.readWriteLock("orders", OPTIONS_WITH_MIN_HOLD);
        lock.downgrade(lock.writeLock().acquire()).release();
    }

    private static void campaignAndResign(Holdfast holdfast) throws InterruptedException {
        Election election = holdfast.election("orders", OPTIONS_WITH_MIN_HOLD);
        election.campaign();
        election.resign();
    }

    private static void campaignAsyncAndResign(Holdfast holdfast) throws Exception {
        Election election = holdfast.election("orders", OPTIONS_WITH_MIN_HOLD);
        election.campaignAsync().get();
        election.resign();
    }

    @ParameterizedTest
    @MethodSource("uses")
    void keepsALockTakenThatWasGivenBackEarly(Use use) throws Exception {
        try (ManualClient client = new ManualClient()) {
            use.of(client.holdfast);

            assertThat(client.isHeld("orders")).isTrue();
            client.time.advance(MIN_HOLD);
            assertThat(client.isHeld("orders")).isFalse();
        }
    }

    @Test
    void doesNotCountForLocksOfALockAllThatFailed() {
        try (ManualClient client = new ManualClient()) {
            client.holdElsewhere("stock");

            assertThat(all(client.holdfast).tryAcquire()).isEmpty();

            assertThat(client.isHeld("orders")).isFalse();
        }
    }

    @Test
    void doesNotCountForLocksOfALockAllThatFailedAsAFuture() {
        try (ManualClient client = new ManualClient()) {
            client.holdElsewhere("stock");

            assertThat(all(client.holdfast).tryAcquireAsync(Duration.ZERO).join())
                    .isEmpty();

            await().until(() -> !client.isHeld("orders"));
        }
    }

    @Test
    void doesNotCountForLocksOfALockAllThatLostOneOfThem() {
        try (ManualClient client = new ManualClient()) {
            loseOrdersWhenStockIsTaken(client);

            assertThat(all(client.holdfast).tryAcquire()).isEmpty();

            assertThat(client.isHeld("stock")).isFalse();
        }
    }

    @Test
    void doesNotCountForLocksOfALockAllThatLostOneOfThemAsAFuture() {
        try (ManualClient client = new ManualClient()) {
            Duration limit = Duration.ofSeconds(1);
            loseOrdersWhenStockIsTaken(client);
            client.store.beforeAsk = () -> client.time.advance(limit.dividedBy(2));

            assertThat(all(client.holdfast).tryAcquireAsync(limit).join()).isEmpty();

            await().until(() -> !client.isHeld("stock"));
        }
    }

    private static void loseOrdersWhenStockIsTaken(ManualClient client) {
        AtomicReference<Ticket> orders = new AtomicReference<>();
        client.store.afterAsk = ticket -> {
            if (ticket.name().equals("orders")) {
                orders.set(ticket);
            } else {
                orders.get().gone(LossReason.FORCED, "by force");
            }
        };
    }

    @Test
    void doesNotCountForLocksOfALockAllThatWasCancelled() {
        try (ManualClient client = new ManualClient()) {
            client.holdElsewhere("stock");
            CompletableFuture<MultiLease> both = all(client.holdfast).acquireAsync();
            await().until(() -> waitersOf(client, "stock") == 1);

            both.cancel(true);

            await().atMost(Duration.ofSeconds(5)).until(() -> !client.isHeld("orders"));
        }
    }

    @Test
    void doesNotCountForLocksOfALockAllThatWasCancelledWhenItHadThemAll() {
        try (ManualClient client = new ManualClient()) {
            CompletableFuture<CompletableFuture<MultiLease>> started = new CompletableFuture<>();
            client.store.afterAsk = ticket -> {
                if (ticket.name().equals("stock")) {
                    started.join().cancel(true);
                }
            };

            started.complete(all(client.holdfast).acquireAsync());

            await().until(() -> client.store.releases.get() == 2);
            assertThat(started.join()).isCancelled();
            assertThat(client.isHeld("orders")).isFalse();
            assertThat(client.isHeld("stock")).isFalse();
        }
    }

    @Test
    void doesNotCountForLocksOfALockAllWhoseClientWasClosed() {
        ManualClient client = new ManualClient();
        try (client) {
            client.holdElsewhere("stock");
            Background<MultiLease> both = Background.run(all(client.holdfast)::acquire);
            await().until(() -> waitersOf(client, "stock") == 1 && both.isParked());
            AtomicReference<LockView> atTheEnd = new AtomicReference<>();
            client.store.beforeClose = () -> atTheEnd.set(client.store.inner().view("orders", client.deadline()));

            client.holdfast.close();

            assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> both.get(10, TimeUnit.SECONDS));
            assertThat(atTheEnd.get().isHeld()).isFalse();
        }
    }

    @Test
    void doesNotCountForALockWhoseFutureWasCancelledBetweenGrantAndDelivery() {
        try (ManualClient client = new ManualClient()) {
            CompletableFuture<CompletableFuture<Lease>> started = new CompletableFuture<>();
            client.store.afterAsk = ticket -> started.join().cancel(true);

            started.complete(lock(client.holdfast).acquireAsync());

            await().until(() -> client.store.releases.get() == 1);
            assertThat(started.join()).isCancelled();
            assertThat(client.isHeld("orders")).isFalse();
        }
    }

    @Test
    @EnabledForJreRange(
            max = JRE.JAVA_20,
            disabledReason = "since Java 21 every callback has a virtual thread of its own, so they are never busy")
    void doesNotCountForALockWhoseClientWasClosedBeforeItsFutureWasCompleted() {
        CountDownLatch callbacks = new CountDownLatch(1);
        try (ManualClient client = new ManualClient()) {
            client.blockCallbacks(callbacks);
            CompletableFuture<Lease> future = lock(client.holdfast).acquireAsync();
            await().until(() -> client.isHeld("orders"));
            AtomicReference<LockView> atTheEnd = new AtomicReference<>();
            client.store.beforeClose = () -> atTheEnd.set(client.store.inner().view("orders", client.deadline()));

            client.holdfast.close();

            assertThat(future).isNotDone();
            assertThat(atTheEnd.get().isHeld()).isFalse();
            callbacks.countDown();
        } finally {
            callbacks.countDown();
        }
    }

    /** The delivery finds that nobody waits any more, before the step does that the cancelling asked for. */
    @Test
    @EnabledForJreRange(
            max = JRE.JAVA_20,
            disabledReason =
                    "since Java 21 steps and callbacks have virtual threads of their own, so they are never busy")
    void doesNotCountForALockWhoseFutureWasCancelledJustBeforeItsDelivery() {
        CountDownLatch callbacks = new CountDownLatch(1);
        CountDownLatch steps = new CountDownLatch(1);
        try (ManualClient client = new ManualClient()) {
            client.blockCallbacks(callbacks);
            CompletableFuture<Lease> future = lock(client.holdfast).acquireAsync();
            await().until(() -> client.isHeld("orders"));
            client.blockSteps(steps);

            assertThat(future.cancel(true)).isTrue();
            callbacks.countDown();

            await().until(() -> !client.isHeld("orders"));
            steps.countDown();
        } finally {
            callbacks.countDown();
            steps.countDown();
        }
    }

    @Test
    void doesNotCountForALockWhoseAcquisitionFailedAfterItsGrant() {
        FailingTime time = new FailingTime();
        try (ManualClient client =
                new ManualClient(builder -> builder.time(time).listener(event -> {}))) {
            client.store.afterAsk = ticket -> time.armed = true;

            assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(lock(client.holdfast)::acquire);

            await().until(() -> !client.isHeld("orders"));
            ManualClient.close(client.holdfast, time.clock);
        }
    }

    private static int waitersOf(ManualClient client, String name) {
        return client.lock(name).inspect().waiters().size();
    }

    /** Runs out of memory, once, between a grant and its lease. */
    private static final class FailingTime implements TimeSource {

        private final ManualTime clock = new ManualTime();
        private volatile boolean armed;

        @Override
        public long nanoTime() {
            if (armed && isCompleting()) {
                armed = false;
                throw new OutOfMemoryError("no room for a lease (simulated)");
            }
            return clock.nanoTime();
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            clock.parkUntil(blocker, untilNanos);
        }

        private static boolean isCompleting() {
            return StackWalker.getInstance()
                    .walk(frames ->
                            frames.anyMatch(frame -> frame.getMethodName().equals("acquired")));
        }
    }
}
