package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Validity;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/** A client on a store that can be broken and a clock that is moved by hand. */
final class ManualClient implements AutoCloseable {

    static final Duration TTL = Duration.ofSeconds(10);
    /** More than fits a number of nanoseconds. */
    static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

    static final LockOptions OPTIONS = LockOptions.defaults().withTtl(TTL);

    final ManualTime time = new ManualTime();
    final Holdfast holdfast;
    final FaultyStore store;

    ManualClient() {
        this(UnaryOperator.identity());
    }

    ManualClient(UnaryOperator<HoldfastBuilder> settings) {
        AtomicReference<FaultyStore> opened = new AtomicReference<>();
        HoldfastBuilder builder = Holdfast.builder()
                .store(context -> {
                    opened.set(new FaultyStore(context));
                    return opened.get();
                })
                .defaults(OPTIONS)
                .closeTimeout(Duration.ofMillis(200))
                .time(time);
        this.holdfast = settings.apply(builder).connect();
        this.store = opened.get();
    }

    DistributedLock lock(String name) {
        return holdfast.lock(name);
    }

    boolean isHeld(String name) {
        return lock(name).inspect().isHeld();
    }

    /** Also while the client closes. */
    boolean isHeldAtTheStore(String name) {
        return store.inner().view(name, deadline()).isHeld();
    }

    /** Lets another client hold the lock for a day, unless it is released by {@link #releaseElsewhere}. */
    Ticket holdElsewhere(String name) {
        Ticket ticket = new Ticket(
                name,
                new OwnerId("another-client", 1),
                Demand.exclusive(),
                Duration.ofDays(1),
                new LockView.Origin("another-client", "another-host", 1, "main"),
                new Validity(time, Duration.ZERO),
                new Ticket.Listener() {});
        store.inner().request(ticket, LockStore.Mode.TRY, deadline());
        assertThat(ticket.isValid()).isTrue();
        return ticket;
    }

    void releaseElsewhere(Ticket held) {
        held.end();
        store.inner().release(held, Duration.ZERO, deadline());
    }

    Deadline deadline() {
        return Deadline.after(time, TTL);
    }

    /** As many threads as ClientExecutors makes for each kind of work where there are no virtual ones. */
    private static final int THREADS = Math.max(4, 2 * Runtime.getRuntime().availableProcessors());

    /** Keeps all threads for continuations of futures busy until then. Since Java 21 there is no end of them. */
    void blockCallbacks(CountDownLatch unblock) {
        CountDownLatch blocked = new CountDownLatch(THREADS);
        blockCallbacks(THREADS, blocked, unblock);
        awaitQuietly(blocked);
    }

    /** Continues so many futures with a wait. */
    void blockCallbacks(int number, CountDownLatch blocked, CountDownLatch unblock) {
        // Nothing is answered before all continuations are there: one that comes late would run, and block, here.
        CountDownLatch continued = new CountDownLatch(1);
        store.beforeAnswer = () -> awaitQuietly(continued);
        for (int i = 0; i < number; i++) {
            lock("blocked-" + i).acquireAsync().thenRun(() -> {
                blocked.countDown();
                awaitQuietly(unblock);
            });
        }
        continued.countDown();
    }

    /** Keeps all threads for steps of futures busy until then. Since Java 21 there is no end of them. */
    void blockSteps(CountDownLatch unblock) {
        CountDownLatch blocked = new CountDownLatch(THREADS);
        store.beforeAsk = () -> {
            blocked.countDown();
            awaitQuietly(unblock);
        };
        for (int i = 0; i < THREADS; i++) {
            lock("hangs-" + i).acquireAsync();
        }
        awaitQuietly(blocked);
    }

    static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Moves the clock on, step by step, until it is so. */
    void passUntil(Duration step, Callable<Boolean> condition) {
        await().until(() -> {
            if (condition.call()) {
                return true;
            }
            time.advance(step);
            return false;
        });
    }

    @Override
    public void close() {
        store.network = FaultyStore.Network.UP;
        close(holdfast, time);
    }

    /** Gives what can be released real time for it before the clock that limits it moves. */
    static void close(Holdfast holdfast, ManualTime time) {
        CompletableFuture<Void> closing = CompletableFuture.runAsync(holdfast::close);
        try {
            closing.get(1, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException | InterruptedException e) {
            await().until(() -> {
                time.advance(Duration.ofMillis(50));
                return closing.isDone();
            });
        }
    }
}
