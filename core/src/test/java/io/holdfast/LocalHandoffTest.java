package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Local handoff")
class LocalHandoffTest {

    private static final int THREADS = 8;
    private static final int ROUNDS = 100;

    private final AtomicReference<FaultyStore> store = new AtomicReference<>();
    private Holdfast holdfast = connect(64);

    private Holdfast connect(int handoffs) {
        return Holdfast.builder()
                .store(context -> {
                    store.set(new FaultyStore(context));
                    return store.get();
                })
                .localHandoff(handoffs, Duration.ofMinutes(1))
                .connect();
    }

    @AfterEach
    void close() {
        holdfast.close();
    }

    @Test
    void savesTripsToTheStoreForAllWhoWait() throws InterruptedException {
        // Not renewed meanwhile, which would be a third trip.
        List<Long> tokens = contend(LockOptions.defaults().withTtl(Duration.ofMinutes(10)), 1);

        assertThat(tokens).hasSize(THREADS).isSorted().doesNotHaveDuplicates();
        assertThat(store.get().requests.get())
                .as("one to take it, one to release it, none between")
                .isEqualTo(2);
    }

    @Test
    void raisesTheTokenEachTime() throws InterruptedException {
        List<Long> tokens = contend(LockOptions.defaults(), ROUNDS);

        assertThat(tokens).hasSize(THREADS * ROUNDS).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void isNeverUsedInStrictOrder() throws InterruptedException {
        List<Long> tokens = contend(LockOptions.defaults().withFairness(Fairness.FIFO), ROUNDS);

        assertThat(tokens).isSorted().allMatch(token -> token % 1024 == 0);
        assertThat(store.get().requests.get()).isGreaterThanOrEqualTo(2 * THREADS * ROUNDS);
    }

    @Test
    void canBeTurnedOff() throws InterruptedException {
        holdfast.close();
        holdfast = connect(0);

        List<Long> tokens = contend(LockOptions.defaults(), ROUNDS);

        assertThat(tokens).isSorted().allMatch(token -> token % 1024 == 0);
    }

    @Test
    void goesBackToTheStoreAfterItsBoundSoThatOthersGetTheirTurn() throws InterruptedException {
        holdfast.close();
        holdfast = connect(5);

        List<Long> tokens = contend(LockOptions.defaults(), ROUNDS);

        assertThat(tokens).isSorted().allMatch(token -> token % 1024 <= 5);
    }

    /** All threads pile up behind a held lock, then go through it so many times each. */
    private List<Long> contend(LockOptions options, int rounds) throws InterruptedException {
        DistributedLock lock = holdfast.lock("hot", options);
        List<Long> tokens = new ArrayList<>(); // guarded by the lock under test
        List<Thread> threads = new ArrayList<>();
        Lease held = lock.acquire();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> {
                for (int round = 0; round < rounds; round++) {
                    try (Lease lease = lock.acquire()) {
                        tokens.add(lease.token());
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        await().until(() -> threads.stream().allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING));
        held.release();
        for (Thread thread : threads) {
            thread.join();
        }
        return tokens;
    }
}
