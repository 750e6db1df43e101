package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.LockStatistics.StoreOperation;
import io.holdfast.Waiting;
import io.holdfast.jdbc.HeldTicket.Told;
import io.holdfast.spi.LockObserver;
import io.holdfast.spi.ReleaseAnswer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A hot lock")
class HotLockTest extends RecipeTest {

    private static final int FEWEST = 50;

    /** Grants that do not count: by then all clients are at work. */
    private static final int GETTING_ACQUAINTED = 100;

    /** For long enough that a client that is kept from running for a moment still has most of it. */
    private static final int FAIR_SHARE = 250;

    private static final Duration SOON = Duration.ofSeconds(20);

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void reportsNoDeadlockToItsCallers(Database database) throws Exception {
        hammer(database, 100);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    @Tag("full")
    void reportsNoDeadlockToItsCallersInFiveThousandCycles(Database database) throws Exception {
        hammer(database, 5_000);
    }

    /**
     * Past the engine, so that the row sees all of it: 16 threads take, renew and release one name in every way. Beside them
     * a client waits for it in the queue.
     */
    private void hammer(Database database, int cycles) throws Exception {
        String name = Database.unique("hot");
        AtomicInteger granted = new AtomicInteger();
        AtomicInteger alone = new AtomicInteger();
        AtomicInteger together = new AtomicInteger();
        AtomicInteger turns = new AtomicInteger();
        AtomicBoolean done = new AtomicBoolean();
        long start = System.nanoTime();
        BooleanSupplier late = () -> System.nanoTime() - start > SOON.toNanos();
        try (OpenStore client = new OpenStore(database.storeUrl() + "&connections=16")) {
            Future<Void> inLine = fork(() -> takeTurns(database, name, turns, done));
            inThreads(16, () -> {
                // Most are refused. A client that has yet to connect is given time.
                for (int i = 0;
                        i < cycles || granted.get() < FEWEST || turns.get() <= FEWEST / 10 && !late.getAsBoolean();
                        i++) {
                    Demand demand = switch (ThreadLocalRandom.current().nextInt(3)) {
                        case 0 -> Demand.shared();
                        case 1 -> Demand.permits(1, 3);
                        default -> Demand.exclusive();
                    };
                    var grant = client.take(name, demand);
                    if (grant.isPresent()) {
                        granted.incrementAndGet();
                        boolean exclusive = demand instanceof Demand.Exclusive;
                        (exclusive ? alone : together).incrementAndGet();
                        assertThat(alone.get()).isLessThanOrEqualTo(1);
                        assertThat(alone.get() == 1 && together.get() > 0).isFalse();
                        assertThat(client.renew(grant.get(), Duration.ofSeconds(40)))
                                .isEqualTo(Told.KEPT);
                        (exclusive ? alone : together).decrementAndGet();
                        assertThat(client.release(grant.get())).isEqualTo(ReleaseAnswer.RELEASED);
                    }
                }
                return null;
            });
            done.set(true);
            get(inLine);
            assertThat(turns.get()).isGreaterThan(FEWEST / 10);
        }
        assertThat(database.number("SELECT taken FROM holdfast_lock WHERE name = '" + name + "'"))
                .as("still taken")
                .isZero();
        assertThat(database.number("SELECT COUNT(*) FROM holdfast_lock_ticket WHERE name = '" + name + "'"))
                .as("tickets left")
                .isZero();
    }

    /** Leases, joiners, leavers and writers that really wait for each other at the lock's row. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    @DisplayName("P1 with fifty threads for three permits, and writers between, is never overdrawn")
    void isNeverOverdrawn(Database database) throws Exception {
        String name = Database.unique("overdrawn");
        AtomicInteger permits = new AtomicInteger();
        AtomicInteger writers = new AtomicInteger();
        AtomicInteger granted = new AtomicInteger();
        try (OpenStore client = new OpenStore(database.storeUrl() + "&connections=25")) {
            inThreads(50, () -> {
                for (int i = 0; i < 20 || granted.get() <= FEWEST && i < 2_000; i++) {
                    boolean writes = ThreadLocalRandom.current().nextInt(5) == 0;
                    int some = writes ? 0 : 1 + ThreadLocalRandom.current().nextInt(2);
                    var grant = client.take(name, writes ? Demand.exclusive() : Demand.permits(some, 3));
                    if (grant.isPresent()) {
                        granted.incrementAndGet();
                        int writing = writes ? writers.incrementAndGet() : writers.get();
                        int taken = permits.addAndGet(some);
                        assertThat(taken).isLessThanOrEqualTo(3);
                        assertThat(writes ? writing == 1 && taken == 0 : writing == 0)
                                .isTrue();
                        permits.addAndGet(-some);
                        if (writes) {
                            writers.decrementAndGet();
                        }
                        client.release(grant.get());
                    }
                }
                return null;
            });
        }
        assertThat(granted.get()).isGreaterThan(FEWEST);
        assertThat(database.number("SELECT taken FROM holdfast_lock WHERE name = '" + name + "'"))
                .isZero();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    @DisplayName("P6 passes nobody over who waits, though sections are empty")
    void passesNobodyOver(Database database) throws Exception {
        String name = Database.unique("passed");
        Contender one = new Contender();
        Contender two = new Contender();
        Future<Void> first = fork(() -> one.takeTurns(database, name, two));
        Future<Void> second = fork(() -> two.takeTurns(database, name, one));
        get(first);
        get(second);

        // The other may hold it, be ahead, and have a request under way; not all that was granted is counted yet.
        assertThat(one.mostPassed).isLessThan(10);
        assertThat(two.mostPassed).isLessThan(10);
    }

    /** Takes a lock as often as it can, and counts how often the other got it while it stood in the queue. */
    private static final class Contender implements LockObserver {

        private final AtomicInteger grants = new AtomicInteger();
        private volatile boolean done;
        private volatile AtomicInteger ofOther = new AtomicInteger();
        private volatile int ofOtherWhenQueued;
        private volatile int mostPassed;

        Void takeTurns(Database database, String name, Contender other) throws InterruptedException {
            ofOther = other.grants;
            try (Holdfast client =
                    Holdfast.builder().store(database.storeUrl()).observer(this).connect()) {
                while (grants.get() < FAIR_SHARE || !other.done) {
                    client.lock(name).acquire().release();
                    done = grants.get() >= FAIR_SHARE;
                }
            }
            return null;
        }

        @Override
        public void requested(StoreOperation operation, Duration took, @Nullable Throwable failure) {
            if (operation == StoreOperation.QUEUE) {
                ofOtherWhenQueued = ofOther.get();
            }
        }

        @Override
        public void acquired(Acquisition acquisition, Way way, long token, Duration waited) {
            mostPassed = Math.max(mostPassed, ofOther.get() - ofOtherWhenQueued);
            grants.incrementAndGet();
        }
    }

    /** One who polls has no place in the queue that others would have to wait for, however slowly it polls. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void isPassedByOneWhoPollsSlowly(Database database) throws Exception {
        String name = Database.unique("slowly");
        LockOptions slowly = LockOptions.defaults().withWaiting(Waiting.poll().every(Duration.ofMinutes(10)));
        try (Holdfast quick = client(database);
                Holdfast other = client(database);
                Holdfast slow = client(database)) {
            Lease held = quick.lock(name).acquire();
            CompletableFuture<Lease> polling = slow.lock(name, slowly).acquireAsync();
            await().until(() -> {
                var tries = slow.statistics().requests().get(StoreOperation.TRY);
                return tries != null && tries.answered() > 0;
            });
            held.release();

            for (int i = 0; i < 20; i++) {
                quick.lock(name).tryAcquire(SOON).orElseThrow().release();
                other.lock(name).tryAcquire(SOON).orElseThrow().release();
            }
            assertThat(polling).isNotDone();
        }
    }

    @Test
    @DisplayName("P9 is looked at not much more often by thirty clients that wait than by one")
    void isLookedAtNotMuchMoreOftenByManyThatWait() throws Exception {
        Database database = Database.MARIADB;
        String name = Database.unique("looked-at");
        List<Holdfast> clients = new ArrayList<>();
        try (Holdfast holder = client(database)) {
            Lease held = holder.lock(name).acquire();
            for (int i = 0; i < 30; i++) {
                Holdfast client = Holdfast.connect(database.storeUrl() + "&connections=1");
                clients.add(client);
                client.lock(name).acquireAsync();
            }
            await().until(() -> holder.lock(name).inspect().waiters().size() == clients.size());
            String questions =
                    "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Questions'";
            Thread.sleep(500); // Until they have found out that the lock is held for long.
            long before = database.number(questions);
            Thread.sleep(2000); // How long looks are counted.

            // As often as one that waits alone would be 3,000.
            assertThat(database.number(questions) - before).isLessThan(400);
            held.release();
        } finally {
            clients.forEach(Holdfast::close);
        }
    }

    private static Void takeTurns(Database database, String name, AtomicInteger turns, AtomicBoolean done)
            throws InterruptedException {
        try (Holdfast client = client(database)) {
            while (!done.get()) {
                client.lock(name).acquire().release();
                turns.incrementAndGet();
            }
        }
        return null;
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void letsAWriterInThroughAStreamOfReaders(Database database) throws Exception {
        String name = Database.unique("stream");
        AtomicBoolean done = new AtomicBoolean();
        CountDownLatch streaming = new CountDownLatch(100);
        try (Holdfast one = client(database);
                Holdfast two = client(database)) {
            List<Future<?>> readers = new ArrayList<>();
            for (Holdfast client : List.of(one, two)) {
                DistributedReadWriteLock lock = client.readWriteLock(name);
                for (int i = 0; i < 3; i++) {
                    readers.add(fork(() -> {
                        while (!done.get()) {
                            try (Lease reading = lock.readLock().acquire()) {
                                streaming.countDown();
                                Thread.sleep(20); // The work of a reader, so that there is always one.
                            }
                        }
                        return null;
                    }));
                }
            }
            assertThat(streaming.await(60, TimeUnit.SECONDS)).isTrue();
            try (Holdfast writer = client(database)) {
                for (int i = 0; i < 3; i++) {
                    Lease writing = writer.readWriteLock(name)
                            .writeLock()
                            .tryAcquire(Duration.ofSeconds(20))
                            .orElseThrow();
                    writing.release();
                }
            }
            done.set(true);
            for (Future<?> reader : readers) {
                get(reader);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void goesRoundAmongClientsThatAllWantItAllTheTime(Database database) throws Exception {
        Takes.bestOf(3, () -> {
            int[] grants = grantsOfEach(database, 4);

            for (int grant : grants) {
                assertThat(grant)
                        .as("grants of each: %s", Arrays.toString(grants))
                        .isGreaterThan(FAIR_SHARE * 2 / 5);
            }
        });
    }

    private int[] grantsOfEach(Database database, int clients) throws Exception {
        String name = Database.unique("round");
        int[] grants = new int[clients];
        AtomicInteger total = new AtomicInteger();
        CountDownLatch ready = new CountDownLatch(clients);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            int me = i;
            all.add(fork(() -> {
                try (Holdfast client = client(database)) {
                    var lock = client.lock(name);
                    lock.run(ready::countDown);
                    ready.await();
                    while (total.get() < GETTING_ACQUAINTED + clients * FAIR_SHARE) {
                        try (Lease lease = lock.acquire()) {
                            grants[me] += total.incrementAndGet() > GETTING_ACQUAINTED ? 1 : 0;
                        }
                    }
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            get(one);
        }
        return grants;
    }

    private static Holdfast client(Database database) {
        return Holdfast.connect(database.storeUrl());
    }
}
