package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.Waiting;
import io.holdfast.jdbc.HeldTicket.Told;
import io.holdfast.spi.ReleaseAnswer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
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
                for (int i = 0; i < 20; i++) {
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
        Takes.bestOf(3, () -> {
            String name = Database.unique("passed");
            long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
            AtomicInteger ofOne = new AtomicInteger();
            AtomicInteger ofTwo = new AtomicInteger();
            try (Holdfast one = client(database);
                    Holdfast two = client(database)) {
                one.lock(name).acquire().release();
                two.lock(name).acquire().release();
                Future<Integer> passedOne = fork(() -> mostPassedBy(one.lock(name), ofOne, ofTwo, end));
                Future<Integer> passedTwo = fork(() -> mostPassedBy(two.lock(name), ofTwo, ofOne, end));

                assertThat(get(passedOne)).isLessThan(ofTwo.get() / 10);
                assertThat(get(passedTwo)).isLessThan(ofOne.get() / 10);
            }
        });
    }

    /** How often the other got the lock during one wait of ours, at most. */
    private static int mostPassedBy(DistributedLock lock, AtomicInteger own, AtomicInteger other, long end)
            throws InterruptedException {
        int most = 0;
        while (System.nanoTime() - end < 0) {
            int before = other.get();
            try (Lease lease = lock.acquire()) {
                own.incrementAndGet();
                most = Math.max(most, other.get() - before);
            }
        }
        return most;
    }

    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "POSTGRESQL"})
    void isNotSlowedDownByOneWhoPollsSlowly(Database database) throws Exception {
        Takes.bestOf(3, () -> {
            int alone = acquisitionsOfTwo(database, Optional.empty());
            int beside = acquisitionsOfTwo(database, Optional.of(Duration.ofMillis(900)));

            assertThat(beside).isGreaterThan(alone / 2);
        });
    }

    private int acquisitionsOfTwo(Database database, Optional<Duration> slowly) throws Exception {
        String name = Database.unique("slowly");
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger acquisitions = new AtomicInteger();
        try (Holdfast one = client(database);
                Holdfast two = client(database);
                Holdfast slow = client(database)) {
            List<Future<?>> all = new ArrayList<>();
            for (Holdfast client : List.of(one, two)) {
                client.lock(name).acquire().release();
                all.add(fork(() -> takeUntil(done, client.lock(name), acquisitions)));
            }
            if (slowly.isPresent()) {
                LockOptions polling =
                        LockOptions.defaults().withWaiting(Waiting.poll().every(slowly.get()));
                all.add(fork(() -> takeUntil(done, slow.lock(name, polling), new AtomicInteger())));
            }
            Thread.sleep(1500); // How long acquisitions are counted.
            done.set(true);
            one.lock(name).tryAcquire();
            int counted = acquisitions.get();
            two.close();
            one.close();
            slow.close();
            for (Future<?> each : all) {
                try {
                    get(each);
                } catch (LockException closed) {
                    // It waited when its client was closed.
                }
            }
            return counted;
        }
    }

    private static Void takeUntil(AtomicBoolean done, DistributedLock lock, AtomicInteger acquisitions)
            throws InterruptedException {
        while (!done.get()) {
            lock.acquire().release();
            acquisitions.incrementAndGet();
        }
        return null;
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

            // Four times a second each would be 240.
            assertThat(database.number(questions) - before).isLessThan(200);
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
