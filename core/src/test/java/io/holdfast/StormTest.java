package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("200 threads on one lock")
class StormTest {

    private static final int THREADS = 200;
    private static final int ROUNDS = 25;

    private final Holdfast holdfast =
            Holdfast.builder().store("memory:").name("storm").connect();
    private final List<Long> tokens = new ArrayList<>(); // guarded by the lock under test
    private final AtomicInteger inside = new AtomicInteger();

    @AfterEach
    void close() {
        holdfast.close();
        await().untilAsserted(() -> assertThat(threadsOfClient()).isEmpty());
    }

    @ParameterizedTest
    @EnumSource(
            value = Fairness.class,
            names = {"BALANCED", "FIFO"})
    void excludeEachOtherAndNobodyStarves(Fairness fairness) throws InterruptedException {
        DistributedLock lock = lock(fairness);
        int[] rounds = new int[THREADS];

        run(thread -> {
            for (int round = 0; round < ROUNDS; round++) {
                try (Lease lease = lock.acquire()) {
                    inCriticalSection(lease);
                    rounds[thread]++;
                }
            }
        });

        assertThat(rounds).containsOnly(ROUNDS);
        assertThat(tokens).hasSize(THREADS * ROUNDS).isSorted().doesNotHaveDuplicates();
        assertThat(lock.inspect()).isEqualTo(LockView.free("hot"));
    }

    @ParameterizedTest
    @EnumSource(
            value = Fairness.class,
            names = {"BALANCED", "FIFO"})
    void interruptsTimeoutsAndCancelsAtRandomLeaveNothingBehind(Fairness fairness) throws InterruptedException {
        DistributedLock lock = lock(fairness);
        long seed = ThreadLocalRandom.current().nextLong();

        run(thread -> {
            Random random = new Random(seed + thread);
            for (int round = 0; round < ROUNDS; round++) {
                switch (random.nextInt(4)) {
                    case 0 -> {
                        try (Lease lease = lock.acquire()) {
                            inCriticalSection(lease);
                        }
                    }
                    case 1 -> {
                        try (Lease lease = lock.tryAcquire(Duration.ofNanos(random.nextInt(2_000_000)))
                                .orElse(null)) {
                            if (lease != null) {
                                inCriticalSection(lease);
                            }
                        }
                    }
                    case 2 -> interruptedAcquire(lock, random);
                    default -> cancelledAcquire(lock, random);
                }
            }
        });

        assertThat(tokens).as("seed %d", seed).isSorted().doesNotHaveDuplicates();
        await().untilAsserted(() -> assertThat(lock.inspect()).isEqualTo(LockView.free("hot")));
        await().until(() -> lock.tryAcquire().isPresent());
    }

    private DistributedLock lock(Fairness fairness) {
        return holdfast.lock("hot", LockOptions.defaults().withFairness(fairness));
    }

    private void inCriticalSection(Lease lease) {
        assertThat(inside.incrementAndGet()).isEqualTo(1);
        tokens.add(lease.token());
        inside.decrementAndGet();
    }

    /** The thread interrupts itself before or a moment after it starts to wait. */
    private void interruptedAcquire(DistributedLock lock, Random random) {
        Thread me = Thread.currentThread();
        CompletableFuture<Void> interrupt = CompletableFuture.runAsync(() -> {
            if (random.nextBoolean()) {
                Thread.yield();
            }
            me.interrupt();
        });
        try (Lease lease = lock.acquire()) {
            inCriticalSection(lease);
        } catch (InterruptedException e) {
            // As asked for.
        }
        interrupt.join();
        Thread.interrupted();
    }

    private void cancelledAcquire(DistributedLock lock, Random random) {
        CompletableFuture<Lease> future = lock.acquireAsync();
        if (random.nextBoolean()) {
            Thread.yield();
        }
        if (!future.cancel(true)) {
            try (Lease lease = future.join()) {
                inCriticalSection(lease);
            }
        }
    }

    private static List<String> threadsOfClient() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("holdfast-storm-"))
                .toList();
    }

    private interface Work {
        void run(int thread) throws InterruptedException;
    }

    private static void run(Work work) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                try {
                    work.run(number);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            thread.setUncaughtExceptionHandler((failed, failure) -> failures.add(failure));
            threads.add(thread);
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join(Duration.ofMinutes(2).toMillis());
            assertThat(thread.isAlive())
                    .as("%s waits for ever", thread.getName())
                    .isFalse();
        }
        assertThat(failures).isEmpty();
    }
}
