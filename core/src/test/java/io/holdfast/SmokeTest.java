package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SmokeTest {

    @Test
    void threadsExcludeEachOther() throws Exception {
        for (Fairness fairness : Fairness.values()) {
            try (Holdfast holdfast = Holdfast.connect("memory:")) {
                DistributedLock lock = holdfast.lock(
                        "a",
                        LockOptions.defaults()
                                .withFairness(fairness)
                                .withWaiting(
                                        fairness == Fairness.BARGING
                                                ? Waiting.poll().every(Duration.ofMillis(1))
                                                : Waiting.queue()));
                List<Long> tokens = new ArrayList<>();
                List<Thread> threads = new ArrayList<>();
                long t0 = System.nanoTime();
                for (int i = 0; i < 16; i++) {
                    Thread t = new Thread(() -> {
                        for (int k = 0; k < 2000; k++) {
                            try (Lease lease = lock.acquire()) {
                                tokens.add(lease.token());
                            } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                        }
                    });
                    threads.add(t);
                    t.start();
                }
                for (Thread t : threads) {
                    t.join(20000);
                }
                System.out.println(fairness + " " + (System.nanoTime() - t0) / 32000 + " ns/cycle");
                assertThat(tokens).hasSize(32000).isSorted().doesNotHaveDuplicates();
                assertThat(lock.inspect().isHeld()).isFalse();
            }
        }
    }

    @Test
    void asyncAndCancel() throws Exception {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            DistributedLock lock = holdfast.lock("a");
            Lease first = lock.acquireAsync().get(5, TimeUnit.SECONDS);
            CompletableFuture<Lease> second = lock.acquireAsync();
            CompletableFuture<Lease> third = lock.acquireAsync();
            assertThat(lock.tryAcquireAsync(Duration.ofMillis(50)).get()).isEmpty();
            second.cancel(true);
            first.release();
            Lease t = third.get(5, TimeUnit.SECONDS);
            assertThat(t.token()).isGreaterThan(first.token());
            t.close();
        }
    }
}
