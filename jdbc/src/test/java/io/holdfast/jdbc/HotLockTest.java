package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.jdbc.HeldTicket.Told;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.spi.ReleaseAnswer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A hot lock")
class HotLockTest extends RecipeTest {

    private static final int FEWEST = 50;

    /** Grants that do not count: by then clients listen for each other's bells. */
    private static final int GETTING_ACQUAINTED = 100;

    /** For long enough that a client that is kept from running for a moment still has most of it. */
    private static final int FAIR_SHARE = 250;

    private static final Duration SOON = Duration.ofSeconds(20);

    @ParameterizedTest
    @EnumSource
    void reportsNoDeadlockToItsCallers(Database database) throws Exception {
        hammer(database, 100);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("full")
    void reportsNoDeadlockToItsCallersInFiveThousandCycles(Database database) throws Exception {
        hammer(database, 5_000);
    }

    /**
     * Past the engine, so that the row sees all of it: 16 threads take, renew and release one name in every way. Beside them
     * a client stands in line for it.
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
                        assertThat(client.renew(grant.get(), Duration.ofSeconds(40))).isEqualTo(Told.KEPT);
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
    @EnumSource
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
    @EnumSource
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
