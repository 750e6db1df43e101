package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockView.Origin;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A request says which locks its unit of work holds")
@Timeout(60)
class UnitsOfWorkTest {

    private final String store = "memory:units-" + System.nanoTime();
    private final Holdfast one = connect("one");
    private final Holdfast other = connect("other");

    private Holdfast connect(String name) {
        return Holdfast.builder()
                .store(store)
                .name(name)
                .longWait(Duration.ofMillis(100))
                .connect();
    }

    @AfterEach
    void close() {
        one.close();
        other.close();
    }

    private Origin holderOf(String name) {
        return one.lock(name).inspect().holders().get(0).origin().orElseThrow();
    }

    private Origin waiterFor(String name) {
        await().until(() -> !one.lock(name).inspect().waiters().isEmpty());
        return one.lock(name).inspect().waiters().get(0).origin().orElseThrow();
    }

    @Test
    void threadThatHoldsNothingSaysNothing() throws InterruptedException {
        try (Lease lease = one.lock("a").acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(holderOf("a").holds()).isEmpty();
        }
        try (Lease lease = one.lock("b").acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(holderOf("b").holds())
                    .as("what was released is not held")
                    .isEmpty();
        }
    }

    @Test
    void threadSaysWhatItHoldsNewestFirst() throws InterruptedException {
        try (Lease lock = one.lock("a").acquire();
                Lease reader = one.readWriteLock("b").readLock().acquire();
                Lease permit = one.semaphore("c", 3).acquire();
                Lease last = one.lock("d").acquire()) {
            assertThat(List.of(lock, reader, permit, last)).allMatch(Lease::isValid);
            assertThat(holderOf("b").holds()).containsExactly("a");
            assertThat(holderOf("d").holds()).containsExactly("c", "b", "a");
        }
    }

    @Test
    void whatIsReleasedInAnyOrderIsNotSaid() throws InterruptedException {
        List<Lease> leases = new ArrayList<>();
        for (String name : List.of("a", "b", "c", "d")) {
            leases.add(one.lock(name).acquire());
        }
        leases.get(0).release();
        leases.get(2).release();
        try (Lease lease = one.lock("e").acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(holderOf("e").holds()).containsExactly("d", "b");
        }
        leases.get(3).release();
        leases.get(1).release();
        try (Lease lease = one.lock("f").acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(holderOf("f").holds()).isEmpty();
        }
    }

    @Test
    void downgradedLeaseIsStillHeld() throws InterruptedException {
        DistributedReadWriteLock lock = one.readWriteLock("a");
        Lease writer = lock.writeLock().acquire();
        Lease reader = lock.downgrade(writer);
        try (Lease lease = one.lock("b").acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(holderOf("b").holds()).containsExactly("a");
        }
        reader.release();
        try (Lease lease = one.lock("c").acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(holderOf("c").holds()).isEmpty();
        }
    }

    @Test
    void otherThreadsAndOtherClientsAreOtherUnits() throws Exception {
        try (Lease mine = one.lock("mine").acquire();
                Lease elsewhere = other.lock("elsewhere").acquire()) {
            assertThat(List.of(mine, elsewhere)).allMatch(Lease::isValid);
            try (Lease theirs =
                    Background.run(() -> one.lock("theirs").acquire()).get(30, TimeUnit.SECONDS)) {
                assertThat(theirs.isValid()).isTrue();
                assertThat(holderOf("theirs").holds()).isEmpty();
            }
            assertThat(holderOf("elsewhere").holds()).isEmpty();
        }
    }

    @Test
    void whatWasHandedOnBelongsToTheOneWhoHasIt() throws Exception {
        Lease first = one.lock("handed").acquire();
        Background<Origin> next = Background.run(() -> {
            try (Lease handed = one.lock("handed").acquire();
                    Lease second = one.lock("second").acquire()) {
                assertThat(List.of(handed, second)).allMatch(Lease::isValid);
                return holderOf("second");
            }
        });
        await().until(next::isParked);
        first.release();

        assertThat(next.get(30, TimeUnit.SECONDS).holds()).containsExactly("handed");
        try (Lease third = one.lock("third").acquire()) {
            assertThat(third.isValid()).isTrue();
            assertThat(holderOf("third").holds()).isEmpty();
        }
    }

    @Test
    void futuresAreOneUnitOnlyByTheirNote() throws Exception {
        LockOptions noted = LockOptions.defaults().withNote("order 4711");
        Lease first = one.lock("a", noted).acquireAsync().get(30, TimeUnit.SECONDS);
        Lease second = one.lock("b", noted).acquireAsync().get(30, TimeUnit.SECONDS);
        Lease plain = one.lock("c").acquireAsync().get(30, TimeUnit.SECONDS);

        assertThat(holderOf("b").note()).contains("order 4711");
        assertThat(holderOf("b").holds()).containsExactly("a");
        assertThat(holderOf("c").note()).isEmpty();
        assertThat(holderOf("c").holds()).isEmpty();
        List.of(first, second, plain).forEach(Lease::release);
    }

    @Test
    void noteIsShortText() {
        assertThatThrownBy(() -> LockOptions.defaults().withNote("ä".repeat(33)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> LockOptions.defaults().withNote(" ")).isInstanceOf(IllegalArgumentException.class);
        assertThat(LockOptions.defaults()
                        .withNote("x".repeat(64))
                        .withTtl(Duration.ofSeconds(9))
                        .note())
                .contains("x".repeat(64));
    }

    @Test
    void tenThousandHeldLocksAreNotAllNamed() throws InterruptedException {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            leases.add(one.lock("lock-" + i).acquire());
        }
        try (Lease last = one.lock("last").acquire()) {
            assertThat(last.isValid()).isTrue();
            assertThat(holderOf("last").holds()).startsWith("lock-9999").hasSizeLessThan(20);
        }
        leases.forEach(Lease::release);
        try (Lease after = one.lock("after").acquire()) {
            assertThat(after.isValid()).isTrue();
            assertThat(holderOf("after").holds()).isEmpty();
        }
    }

    @Test
    void thousandsOfUnitsAreToldApart() throws InterruptedException {
        for (int i = 0; i < 3_000; i++) {
            one.lock("lock-" + i, LockOptions.defaults().withNote("note " + i)).acquire();
        }
        one.lock("last", LockOptions.defaults().withNote("another note")).acquire();

        assertThat(holderOf("last").holds()).isEmpty();
    }

    @Test
    void threadsThatReleaseForEachOtherLeaveNothing() throws Exception {
        for (int round = 0; round < 200; round++) {
            String suffix = "-" + round;
            List<CompletableFuture<Lease>> taken = IntStream.range(0, 4)
                    .mapToObj(i -> (CompletableFuture<Lease>)
                            Background.run(() -> one.lock("l" + i + suffix).acquire()))
                    .toList();
            List<Lease> leases = new ArrayList<>();
            for (CompletableFuture<Lease> each : taken) {
                leases.add(each.get(30, TimeUnit.SECONDS));
            }
            leases.add(one.lock("own" + suffix).acquire());
            leases.parallelStream().forEach(Lease::release);
        }
        try (Lease after = one.lock("after").acquire()) {
            assertThat(after.isValid()).isTrue();
            assertThat(holderOf("after").holds()).isEmpty();
        }
    }

    @Test
    void longWaitNamesTheDeadlockOfTwoClients() throws Exception {
        try (CapturedLog log = new CapturedLog()) {
            CompletableFuture<Lease> stock = new CompletableFuture<>();
            CountDownLatch theirTurn = new CountDownLatch(1);
            CompletableFuture<Lease> ours = Background.run(() -> {
                stock.complete(one.lock("stock").acquire());
                theirTurn.await();
                return one.lock("orders").acquire();
            });
            stock.get(30, TimeUnit.SECONDS);
            CompletableFuture<Lease> theirs = Background.run(() -> {
                Lease orders = other.lock("orders").acquire();
                try {
                    return other.lock("stock").acquire();
                } finally {
                    orders.release();
                }
            });
            assertThat(waiterFor("stock").holds()).containsExactly("orders");
            theirTurn.countDown();

            await().untilAsserted(() -> assertThat(log.textsAbout("orders"))
                    .anyMatch(text -> text.contains("Suspected deadlock")
                            && text.contains("holds 'stock' and waits for 'orders'")
                            && text.contains("holds 'orders' and waits for 'stock'")));
            stock.get().release();
            theirs.get(30, TimeUnit.SECONDS).release();
            ours.get(30, TimeUnit.SECONDS).release();
        }
    }

    @Test
    void longWaitNamesTheDeadlockOfTwoThreadsOfOneClient() throws Exception {
        try (CapturedLog log = new CapturedLog()) {
            CompletableFuture<Lease> first = new CompletableFuture<>();
            CountDownLatch secondIsTaken = new CountDownLatch(1);
            CompletableFuture<Lease> thread = Background.run(() -> {
                first.complete(one.lock("first").acquire());
                secondIsTaken.await();
                return one.lock("second").acquire();
            });
            first.get(30, TimeUnit.SECONDS);
            CompletableFuture<Lease> another = Background.run(() -> {
                try (Lease second = one.lock("second").acquire()) {
                    assertThat(second.isValid()).isTrue();
                    return one.lock("first").acquire();
                }
            });
            await().until(() -> one.statistics().waiting() == 1);
            secondIsTaken.countDown();

            await().untilAsserted(() ->
                    assertThat(log.textsAbout("second")).anyMatch(text -> text.contains("Suspected deadlock")));
            first.get().release();
            another.get(30, TimeUnit.SECONDS).release();
            thread.get(30, TimeUnit.SECONDS).release();
        }
    }

    @Test
    void longWaitForOneWhoWorksSuspectsNothing() throws Exception {
        try (CapturedLog log = new CapturedLog();
                Lease busy = other.lock("busy").acquire()) {
            CompletableFuture<Lease> mine = new CompletableFuture<>();
            CountDownLatch somebodyIsBehind = new CountDownLatch(1);
            CompletableFuture<Lease> waiting = Background.run(() -> {
                mine.complete(one.lock("mine").acquire());
                somebodyIsBehind.await();
                return one.lock("busy").acquire();
            });
            mine.get(30, TimeUnit.SECONDS);
            CompletableFuture<Lease> behind = Background.run(other.lock("mine")::acquire);
            await().until(() -> other.statistics().waiting() == 1);
            somebodyIsBehind.countDown();

            await().untilAsserted(
                            () -> assertThat(log.textsAbout("busy")).anyMatch(text -> text.contains("has waited")));
            assertThat(log.textsAbout("busy")).noneMatch(text -> text.contains("deadlock"));
            busy.release();
            mine.get().release();
            behind.get(30, TimeUnit.SECONDS).release();
            waiting.get(30, TimeUnit.SECONDS).release();
        }
    }

    @Test
    void readerThatWaitsToWriteIsToldThatItWaitsForItself() throws Exception {
        DistributedReadWriteLock lock = one.readWriteLock("upgraded");
        try (CapturedLog log = new CapturedLog()) {
            CompletableFuture<Lease> reader = new CompletableFuture<>();
            CompletableFuture<Lease> writer = Background.run(() -> {
                reader.complete(lock.readLock().acquire());
                return lock.writeLock().acquire();
            });

            await().untilAsserted(() ->
                    assertThat(log.textsAbout("upgraded")).anyMatch(text -> text.contains("which it holds itself")));
            reader.get(30, TimeUnit.SECONDS).release();
            writer.get(30, TimeUnit.SECONDS).release();
        }
    }

    @Test
    void takerOfPermitsMayWaitForMore() throws InterruptedException {
        DistributedSemaphore semaphore = one.semaphore("permits", 1);
        try (CapturedLog log = new CapturedLog();
                Lease permit = semaphore.acquire()) {
            assertThat(permit.isValid()).isTrue();

            assertThat(semaphore.tryAcquire(Duration.ofMillis(20))).isEmpty();

            assertThat(log.textsAbout("permits")).noneMatch(text -> text.contains("which it holds itself"));
        }
    }
}
