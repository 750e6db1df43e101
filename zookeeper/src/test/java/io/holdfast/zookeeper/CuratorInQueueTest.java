package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.RetryForever;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("In one queue with Curator")
class CuratorInQueueTest {

    private static final LockOptions OPTIONS = LockOptions.defaults().withTtl(Duration.ofSeconds(30));

    private static ZooKeeperServer server;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private CuratorFramework curator;
    private Holdfast holdfast;

    @BeforeAll
    static void startServer() {
        server = TestServers.single();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        curator = CuratorFrameworkFactory.newClient(server.connectString(), 30_000, 30_000, new RetryForever(100));
        curator.start();
        holdfast = Holdfast.builder()
                .store(TestServers.uri(server.connectString()))
                .defaults(OPTIONS)
                .connect();
    }

    @AfterEach
    void disconnect() {
        holdfast.close();
        curator.close();
        threads.shutdownNow();
    }

    @Test
    void curatorWaitsForUsAndWeForCuratorInOrder() throws Exception {
        ConcurrentLinkedQueue<String> order = new ConcurrentLinkedQueue<>();
        Lease first = holdfast.lock("shared-queue").acquire();

        Future<?> second = queued("shared-queue", 2, () -> {
            InterProcessMutex mutex = new InterProcessMutex(curator, "/locks/shared-queue");
            mutex.acquire();
            order.add("curator");
            mutex.release();
            return null;
        });
        Future<?> third = queued("shared-queue", 3, () -> {
            try (Holdfast other = Holdfast.builder()
                            .store(TestServers.uri(server.connectString()))
                            .defaults(OPTIONS)
                            .connect();
                    Lease lease = other.lock("shared-queue").acquire()) {
                order.add("holdfast");
            }
            return null;
        });
        Future<?> fourth = queued("shared-queue", 4, () -> {
            InterProcessMutex mutex = new InterProcessMutex(curator, "/locks/shared-queue");
            mutex.acquire();
            order.add("curator again");
            mutex.release();
            return null;
        });
        assertThat(order).isEmpty();

        first.release();

        second.get(20, SECONDS);
        third.get(20, SECONDS);
        fourth.get(20, SECONDS);
        assertThat(order).containsExactly("curator", "holdfast", "curator again");
    }

    @Test
    void weAreRefusedWhatCuratorHoldsAndCuratorWhatWeHold() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(curator, "/locks/refused");
        mutex.acquire();
        assertThat(holdfast.lock("refused").tryAcquire()).isEmpty();
        assertThat(holdfast.readWriteLock("refused").readLock().tryAcquire()).isEmpty();
        mutex.release();

        Lease reader = holdfast.readWriteLock("refused").readLock().tryAcquire().orElseThrow();
        assertThat(mutex.acquire(100, java.util.concurrent.TimeUnit.MILLISECONDS))
                .isFalse();
        reader.release();
        assertThat(mutex.acquire(20, SECONDS)).isTrue();
        mutex.release();
    }

    @Test
    void neitherEverHoldsBesideTheOther() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            InterProcessMutex mutex = new InterProcessMutex(curator, "/locks/contended");
            workers.add(threads.submit(() -> {
                for (int round = 0; round < 20; round++) {
                    mutex.acquire();
                    visit(inside, most);
                    mutex.release();
                }
                return null;
            }));
            workers.add(threads.submit(() -> {
                for (int round = 0; round < 20; round++) {
                    try (Lease lease = holdfast.lock("contended").acquire()) {
                        visit(inside, most);
                    }
                }
                return null;
            }));
        }
        for (Future<?> worker : workers) {
            worker.get(60, SECONDS);
        }

        assertThat(most).hasValue(1);
    }

    @Test
    void inItsLayoutCuratorsReadersAndWritersShareOurQueue() throws Exception {
        try (Holdfast readWrite = Holdfast.builder()
                .store(TestServers.uri(server.connectString()) + "&layout=read-write")
                .defaults(OPTIONS)
                .connect()) {
            InterProcessReadWriteLock theirs = new InterProcessReadWriteLock(curator, "/locks/table");
            var ours = readWrite.readWriteLock("table");

            theirs.readLock().acquire();
            Lease reader = ours.readLock().tryAcquire().orElseThrow();
            assertThat(ours.writeLock().tryAcquire()).isEmpty();
            theirs.readLock().release();
            assertRefused(theirs.writeLock());
            reader.release();

            Lease writer = ours.writeLock().acquire();
            assertRefused(theirs.readLock());
            writer.release();
            assertThat(theirs.writeLock().acquire(20, SECONDS)).isTrue();
            assertThat(ours.readLock().tryAcquire()).isEmpty();
            theirs.writeLock().release();
        }
    }

    private void assertRefused(InterProcessLock lock) throws Exception {
        // Curator's locks belong to threads: another one must not be mistaken for re-entry.
        assertThat(threads.submit(() -> lock.acquire(200, java.util.concurrent.TimeUnit.MILLISECONDS))
                        .get(20, SECONDS))
                .isFalse();
    }

    /** Starts somebody and returns when they are the {@code position}th in the queue. */
    private Future<?> queued(String lock, int position, Callable<Object> task) throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        Future<?> future = threads.submit(() -> {
            started.countDown();
            return task.call();
        });
        started.await();
        await().until(() -> curator.getChildren().forPath("/locks/" + lock).size() == position);
        return future;
    }

    private static void visit(AtomicInteger inside, AtomicInteger most) {
        int now = inside.incrementAndGet();
        most.accumulateAndGet(now, Math::max);
        Thread.yield();
        inside.decrementAndGet();
    }
}
