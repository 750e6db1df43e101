package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.Fairness;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.ReleaseResult;
import io.holdfast.Renewal;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.proxy.Direction;
import io.holdfast.proxy.RequestCounter;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisException;

@DisplayName("The whole client on a real server")
class EngineTest extends RedisTest {

    private static final LockOptions FIFO = LockOptions.defaults().withFairness(Fairness.FIFO);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private String name;

    @BeforeEach
    void pickName() {
        name = name();
    }

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
    }

    private Holdfast holdfast() {
        return holdfast(server.uri());
    }

    private Holdfast holdfast(String uri) {
        return closing(Holdfast.connect(uri), Holdfast::close);
    }

    private static void join(List<Future<?>> running) throws Exception {
        for (Future<?> each : running) {
            each.get(60, TimeUnit.SECONDS);
        }
    }

    /** Who takes the lock at a time, and with which tokens. */
    private static final class Witness {
        /** Longer than a request, so that a second holder would walk in meanwhile. */
        private static final Duration STAY = Duration.ofMillis(1);

        private final AtomicInteger inside = new AtomicInteger();
        private final AtomicLong lastToken = new AtomicLong();
        private final AtomicInteger entries = new AtomicInteger();
        /** Read, and written back a while later: two at once lose a count. */
        private volatile int unguarded;

        private volatile boolean overlapped;
        private volatile boolean wentBack;

        void enter(Lease lease) {
            if (inside.incrementAndGet() != 1) {
                overlapped = true;
            }
            if (lastToken.getAndSet(lease.token()) >= lease.token()) {
                wentBack = true;
            }
            entries.incrementAndGet();
            int before = unguarded;
            LockSupport.parkNanos(STAY.toNanos());
            unguarded = before + 1;
            inside.decrementAndGet();
        }

        void check() {
            assertThat(overlapped).as("two holders at once").isFalse();
            assertThat(unguarded).as("entries that were counted").isEqualTo(entries.get());
            assertThat(wentBack).as("a token went back").isFalse();
        }
    }

    @Test
    void aFreeLockCostsOneCommandToTakeAndOneToRelease() throws Exception {
        DistributedLock lock = holdfast().lock(name);
        lock.run(() -> {});
        long before = calls("evalsha");

        for (int i = 0; i < 50; i++) {
            lock.run(() -> {});
        }

        assertThat(calls("evalsha") - before).isEqualTo(100);
    }

    @Test
    void aQueuedAcquisitionCostsTwoCommandsHoweverManyWait() throws Exception {
        int waiters = 40;
        List<DistributedLock> locks =
                IntStream.range(0, 4).mapToObj(i -> holdfast().lock(name, FIFO)).toList();
        // Every client listens already: one that does not asks before it queues.
        warmUp(locks);
        long before = calls("evalsha");
        Lease held = locks.get(0).acquire();
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            DistributedLock lock = locks.get(i % locks.size());
            int expected = i + 1;
            running.add(threads.submit(() -> takeOnce(lock)));
            await().until(() -> redis.zcard(keys(name).queue()) == expected);
        }

        held.release();
        join(running);

        // One to queue and one to release each; the new holder sends nothing before acquire() returns.
        assertThat(calls("evalsha") - before).isEqualTo(2 * (waiters + 1));
    }

    @Test
    void onTheWireAFreeLockIsOneRequestToTakeAndOneToRelease() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.address(), RequestCounter::resp)) {
            DistributedLock lock = holdfast("redis://127.0.0.1:" + proxy.port()).lock(name);
            settleIn(lock, proxy);
            long before = proxy.requests(Direction.TO_SERVER);

            for (int i = 0; i < 50; i++) {
                lock.run(() -> {});
            }

            assertThat(proxy.requests(Direction.TO_SERVER) - before).isEqualTo(100);
        }
    }

    @Test
    void onTheWireAHandoverIsOneRequestToQueueAndNoneBeforeAcquireReturns() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.address(), RequestCounter::resp)) {
            DistributedLock lock = holdfast("redis://127.0.0.1:" + proxy.port()).lock(name, FIFO);
            DistributedLock other = holdfast().lock(name, FIFO);
            settleIn(lock, proxy);
            warmUp(List.of(other, lock));
            Lease held = other.acquire();
            long before = proxy.requests(Direction.TO_SERVER);

            Future<Lease> waiting = threads.submit((Callable<Lease>) lock::acquire);
            await().until(() -> redis.zcard(keys(name).queue()) == 1);
            held.release();
            Lease next = waiting.get(20, TimeUnit.SECONDS);

            assertThat(proxy.requests(Direction.TO_SERVER) - before).isEqualTo(1);
            next.release();
            assertThat(proxy.requests(Direction.TO_SERVER) - before).isEqualTo(2);
        }
    }

    /** Connects, and waits until the one look at the server's settings (a long reply) is over. */
    private static void settleIn(DistributedLock lock, TcpProxy proxy) throws Exception {
        lock.run(() -> {});
        await().until(() -> proxy.bytes(Direction.TO_CLIENT) > 1000);
        // If that look has not given the connection back yet, another is left behind.
        lock.run(() -> {});
    }

    private void warmUp(List<DistributedLock> locks) throws Exception {
        Lease held = locks.get(0).acquire();
        List<Future<?>> running = locks.stream()
                .<Future<?>>map(lock -> threads.submit(() -> takeOnce(lock)))
                .toList();
        await().until(() -> redis.zcard(keys(name).queue()) == locks.size());
        await().until(() -> subscriptions() >= locks.size());
        held.release();
        join(running);
    }

    private static Void takeOnce(DistributedLock lock) throws InterruptedException {
        lock.run(() -> {});
        return null;
    }

    private static long subscriptions() {
        return ((List<?>) command("PUBSUB", "CHANNELS", "holdfast:client:*")).size();
    }

    @Test
    void clientsAndThreadsExcludeEachOtherWhileConnectionsAreKilledEvery200Millis() throws Exception {
        contend(3, 3, Duration.ofSeconds(4), LockOptions.defaults().withTtl(Duration.ofSeconds(5)), () -> {
            command("CLIENT", "KILL", "TYPE", "pubsub");
            command("CLIENT", "KILL", "TYPE", "normal");
        });
    }

    @Test
    void fifoExcludesWhileScriptsAreFlushed() throws Exception {
        contend(3, 3, Duration.ofSeconds(2), FIFO, () -> command("SCRIPT", "FLUSH"));
    }

    /** Returns the longest wait. */
    private Duration contend(int clients, int threadsEach, Duration time, LockOptions options, Runnable disturb)
            throws Exception {
        Witness witness = new Witness();
        AtomicBoolean go = new AtomicBoolean(true);
        AtomicLong longestWait = new AtomicLong();
        List<Future<?>> running = new ArrayList<>();
        for (int c = 0; c < clients; c++) {
            DistributedLock lock = holdfast().lock(name, options);
            for (int t = 0; t < threadsEach; t++) {
                running.add(threads.submit((Callable<Void>) () -> {
                    while (go.get()) {
                        long start = System.nanoTime();
                        try (Lease lease = lock.acquire()) {
                            longestWait.accumulateAndGet(System.nanoTime() - start, Math::max);
                            if (lease.isValid()) {
                                witness.enter(lease);
                            }
                        } catch (StoreUnavailableException | UnknownOutcomeException e) {
                            // Its connection was killed: that is what this is about.
                        }
                    }
                    return null;
                }));
            }
        }
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            TimeUnit.MILLISECONDS.sleep(200);
            try {
                disturb.run();
            } catch (JedisException e) {
                // It may have killed itself.
            }
        }
        go.set(false);
        join(running);
        witness.check();
        assertThat(witness.entries.get()).isGreaterThan(20);
        // A ttl and a second by rights; the rest is for a busy machine.
        Duration longest = Duration.ofNanos(longestWait.get());
        assertThat(longest).isLessThan(options.ttl().plusSeconds(4));
        return longest;
    }

    @Test
    void aDeadServerIsAnErrorByTheDeadlineAndALiveOneServesAgain() throws Exception {
        try (RedisServer mortal = RedisServer.start()) {
            DistributedLock lock = holdfast(mortal.uri()).lock(name);
            lock.run(() -> {});
            mortal.kill();

            long start = System.nanoTime();
            assertThat(failureOf(() -> lock.tryAcquire(Duration.ofMillis(300)))).isInstanceOf(LockException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(4));

            mortal.restart();
            await().ignoreExceptions()
                    .until(() -> lock.tryAcquire(Duration.ofSeconds(1))
                            .map(lease -> {
                                lease.close();
                                return true;
                            })
                            .orElse(false));
        }
    }

    @Test
    void aPausedServerIsAnErrorByTheDeadlineAndNothingIsLeftBehind() throws Exception {
        try (RedisServer paused = RedisServer.start()) {
            DistributedLock lock =
                    holdfast(paused.uri()).lock(name, LockOptions.defaults().withTtl(Duration.ofSeconds(3)));
            // A request on a connection that is not open yet is not one of unknown outcome.
            settleIn(lock, paused);
            paused.pause();

            long start = System.nanoTime();
            assertThat(failureOf(() -> lock.tryAcquire(Duration.ofMillis(300))))
                    .isInstanceOf(UnknownOutcomeException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(4));

            paused.resume();
            await().until(() -> !lock.inspect().isHeld());
            assertThat(lock.tryAcquire()).isPresent();
        }
    }

    @Test
    void aHolderWhoseLockTheServerForgotIsTold() throws Exception {
        try (RedisServer forgetful = RedisServer.start()) {
            Holdfast client = holdfast(forgetful.uri());
            Lease lease = client.lock(name, LockOptions.defaults().withTtl(Duration.ofSeconds(3)))
                    .acquire();
            AtomicBoolean told = new AtomicBoolean();
            lease.onLost(loss -> told.set(true));

            forgetful.restart();

            await().untilTrue(told);
            assertThat(lease.isValid()).isFalse();
        }
    }

    @Test
    void aWaiterSurvivesARestartOfTheServer() throws Exception {
        try (RedisServer forgetful = RedisServer.start()) {
            LockOptions options = LockOptions.defaults().withTtl(Duration.ofSeconds(3));
            Lease lease = holdfast(forgetful.uri()).lock(name, options).acquire();
            Future<Lease> waiting = threads.submit(
                    () -> holdfast(forgetful.uri()).lock(name, options).acquire());
            await().until(() -> !lease.isValid() || waitersOf(forgetful) == 1);

            forgetful.restart();

            Lease next = waiting.get(20, TimeUnit.SECONDS);
            assertThat(next.token()).isGreaterThan(lease.token());
        }
    }

    private int waitersOf(RedisServer at) {
        return holdfast(at.uri()).lock(name).inspect().waiters().size();
    }

    @Test
    void aReleaseWhoseReplyIsLostIsFinishedInTheBackground() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.address())) {
            Holdfast client = closing(
                    Holdfast.builder()
                            .store("redis://127.0.0.1:" + proxy.port())
                            .requestTimeout(Duration.ofSeconds(1))
                            .connect(),
                    Holdfast::close);
            Lease lease = client.lock(name).acquire();
            proxy.cut();

            assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);
            proxy.resetConnections();
            proxy.heal();

            await().until(() -> !redis.exists(keys(name).lock()));
        }
    }

    @Test
    void aFixedLeaseIsConfirmedAfterAPushAndNotRenewed() throws Exception {
        LockOptions fixed = LockOptions.defaults().withRenewal(Renewal.NONE).withTtl(Duration.ofSeconds(20));
        Lease held = holdfast().lock(name).acquire();
        DistributedLock lock = holdfast().lock(name, fixed);
        Future<Lease> waiting = threads.submit((Callable<Lease>) lock::acquire);
        await().until(() -> redis.zcard(keys(name).queue()) == 1);

        held.release();

        assertThat(waiting.get(20, TimeUnit.SECONDS).remaining()).isGreaterThan(Duration.ofSeconds(15));
    }

    @Test
    void tenThousandLocksAreRenewedInFewCommandsAndWithoutThreadsOfTheirOwn() throws Exception {
        Holdfast client = holdfast();
        LockOptions options = LockOptions.defaults().withTtl(Duration.ofSeconds(9));
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            leases.add(client.lock(name + "/" + i, options).acquire());
        }
        long before = calls("evalsha");
        long start = System.nanoTime();

        await().until(() -> System.nanoTime() - start > Duration.ofSeconds(7).toNanos());

        assertThat(leases).allMatch(Lease::isValid);
        long commands = calls("evalsha") - before;
        assertThat(commands).isBetween(40L, 400L);
        assertThat(ownThreads()).hasSizeLessThan(15);
    }

    private static Map<String, Long> ownThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(thread -> thread.startsWith("holdfast-"))
                .collect(Collectors.groupingBy(thread -> thread, Collectors.counting()));
    }

    @Test
    void aClientTheUserAlreadyHasWillDoAndStaysOpen() throws Exception {
        try (RedisClient mine = RedisClient.create("127.0.0.1", server.port())) {
            Lease held = holdfast().lock(name).acquire();
            try (Holdfast client =
                    Holdfast.builder().store(RedisStores.using(mine)).connect()) {
                Future<Lease> waiting = threads.submit((Callable<Lease>) client.lock(name)::acquire);
                await().until(() -> redis.zcard(keys(name).queue()) == 1);
                held.release();

                assertThat(waiting.get(20, TimeUnit.SECONDS).token()).isGreaterThan(held.token());
            }
            assertThat(redis.exists(keys(name).lock())).isFalse();
            assertThat(mine.ping()).isEqualTo("PONG");
        }
    }

    @Test
    void aClientTheUserAlreadyHasGetsItsConnectionsBackAsTheyWere() throws Exception {
        try (RedisClient mine = RedisClient.create("127.0.0.1", server.port())) {
            int timeout = readTimeout(mine);
            try (Holdfast client =
                    Holdfast.builder().store(RedisStores.using(mine)).connect()) {
                client.lock(name)
                        .tryAcquire(Duration.ofMillis(1500))
                        .orElseThrow()
                        .close();

                assertThat(readTimeout(mine)).isEqualTo(timeout);
                Lease held = holdfast().lock(name).acquire();
                assertThat(client.lock(name).tryAcquire(Duration.ofSeconds(1))).isEmpty();
                held.release();
                client.locks(name);
                assertThat(readTimeout(mine)).isEqualTo(timeout);
            }
            await().until(() -> mine.getPool().getNumActive() == 0);
        }
    }

    private static int readTimeout(RedisClient client) {
        try (Connection connection = client.getPool().getResource()) {
            return connection.getSoTimeout();
        }
    }

    @Test
    @Tag("full")
    void aLongSoakWithKilledConnections() throws Exception {
        Duration longestWait = contend(
                4,
                4,
                Duration.ofSeconds(30),
                FIFO.withTtl(Duration.ofSeconds(5)),
                () -> command("CLIENT", "KILL", "TYPE", "pubsub"));

        // Who hears again at once is passed over for a moment only, not until its ttl is over.
        assertThat(longestWait).isLessThan(Duration.ofSeconds(3));
    }

    private static Throwable failureOf(Callable<?> call) {
        try {
            return new AssertionError("no failure but " + call.call());
        } catch (Exception e) {
            return e;
        }
    }
}
