package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Waiting in the server's own queue")
class BatonTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int ROUNDS = 50;

    private final List<Holdfast> clients = new ArrayList<>();

    private Holdfast client(Database database) {
        return client(database, "");
    }

    private Holdfast client(Database database, String parameters) {
        Holdfast client = Holdfast.connect(database.storeUrl() + parameters);
        clients.add(client);
        return client;
    }

    @AfterEach
    void closeClients() {
        clients.forEach(Holdfast::close);
    }

    /** Sessions that wait for a session lock of anybody. */
    private static long queued(Database database) {
        return database.number(
                database == Database.POSTGRESQL
                        ? "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                        : "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'");
    }

    private static boolean isBatonFree(Database database, String name) throws Exception {
        try (Connection connection = database.connect()) {
            return baton(database, connection, name).isFree(connection);
        }
    }

    private static String keyOf(Database database, String name) throws Exception {
        try (Connection connection = database.connect()) {
            return baton(database, connection, name).mysqlKey();
        }
    }

    private static BatonSql baton(Database database, Connection connection, String name) throws Exception {
        return new BatonSql(
                database.dialect(),
                database == Database.POSTGRESQL ? connection.getSchema() : connection.getCatalog(),
                JdbcStore.STANDARD_TABLE,
                name);
    }

    private static long places(Database database, String name) {
        return database.number("SELECT LENGTH(line) FROM holdfast_lock WHERE name = '" + name + "'")
                / Line.PLACE_LENGTH;
    }

    /** A client that takes the lock in the ordinary way, and others that queue for the baton one after the other. */
    private List<CompletableFuture<Lease>> queueUp(Database database, String name, int waiters) {
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        queueUpBehind(waiting, database, name, waiters);
        return waiting;
    }

    private void queueUpBehind(List<CompletableFuture<Lease>> waiting, Database database, String name, int waiters) {
        for (int i = 0; i < waiters; i++) {
            // The first one has the baton at once.
            long behind = waiting.size();
            waiting.add(client(database).lock(name).acquireAsync());
            await().atMost(SOON).until(() -> waitBehind(database, name) == behind && !isBatonFree(database, name));
        }
    }

    /** Those who queue for the baton, and on PostgreSQL those who did for a second and now stand in line behind the relay. */
    private static long waitBehind(Database database, String name) {
        return queued(database) + Math.max(0, places(database, name) - 1);
    }

    /** On PostgreSQL, after a second. */
    private static boolean standsInLine(Database database, String name) {
        return database == Database.POSTGRESQL && places(database, name) > 0;
    }

    /** In whatever order. */
    private static void allAreServed(List<CompletableFuture<Lease>> waiting) {
        CompletableFuture<Void> all = CompletableFuture.allOf(
                waiting.stream().map(turn -> turn.thenAccept(Lease::release)).toArray(CompletableFuture[]::new));
        await().atMost(SOON).until(all::isDone);
        all.join();
    }

    @ParameterizedTest
    @EnumSource
    void goesToClientsInTheOrderInWhichTheyCame(Database database) throws Exception {
        Takes.within(longestQueueing(database), watch -> {
            String name = Database.unique("order");
            Lease held = client(database).lock(name).acquire();
            List<Integer> served = new CopyOnWriteArrayList<>();
            List<CompletableFuture<Lease>> waiting = queueUp(database, name, 1);
            watch.start();
            queueUpBehind(waiting, database, name, 3);
            List<CompletableFuture<Long>> turns = new ArrayList<>();
            for (int i = 0; i < waiting.size(); i++) {
                int number = i;
                turns.add(waiting.get(i).thenApply(lease -> {
                    served.add(number);
                    long token = lease.token();
                    lease.release();
                    return token;
                }));
            }
            held.release();
            await().atMost(SOON).until(() -> turns.stream().allMatch(CompletableFuture::isDone));

            assertThat(served).containsExactly(0, 1, 2, 3);
            assertThat(turns.stream().map(CompletableFuture::join)).isSorted().doesNotHaveDuplicates();
        });
    }

    /** Then they go and stand in line, and those who still queue may overtake them. */
    private static Duration longestQueueing(Database database) {
        return database == Database.POSTGRESQL ? Duration.ofSeconds(1) : Duration.ofDays(1);
    }

    @ParameterizedTest
    @EnumSource
    void leavesNothingBehindThatKeepsOthersOut(Database database) throws Exception {
        String name = Database.unique("over");
        Holdfast first = client(database);
        Lease held = first.lock(name).acquire();
        List<CompletableFuture<Lease>> waiting = queueUp(database, name, 3);

        held.release();
        allAreServed(waiting);

        await().atMost(SOON).until(() -> isBatonFree(database, name));
        // The place of the relay may be kept for a moment; a single try sees that it is over, alone or not.
        Lease shared = first.readWriteLock(name).readLock().tryAcquire().orElseThrow();
        shared.release();
        first.lock(name).tryAcquire().orElseThrow().release();
        client(database).lock(name).tryAcquire().orElseThrow().release();
        assertThat(places(database, name)).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void whoGivesUpLeavesTheQueue(Database database) throws Exception {
        String name = Database.unique("gives-up");
        Lease held = client(database).lock(name).acquire();
        List<CompletableFuture<Lease>> waiting = queueUp(database, name, 3);

        waiting.get(1).cancel(true);
        waiting.get(0).cancel(true);
        await().atMost(SOON).until(() -> queued(database) == 0);
        held.release();

        await().atMost(SOON).until(waiting.get(2)::isDone);
        waiting.get(2).join().release();
        await().atMost(SOON).until(() -> isBatonFree(database, name));
    }

    @ParameterizedTest
    @EnumSource
    void isNotMissedByThoseWhoQueueWhenSomebodyKeepsTheBaton(Database database) throws Exception {
        String name = Database.unique("kept");
        Holdfast one = client(database);
        Holdfast two = client(database);
        one.lock(name).acquire().release();
        try (Connection stuck = database.connect()) {
            assertThat(baton(database, stuck, name).tryTake(stuck)).isTrue();
            Lease held = one.lock(name).acquire();
            CompletableFuture<Lease> waiting = two.lock(name).acquireAsync();
            await().atMost(SOON).until(() -> queued(database) == 1 || standsInLine(database, name));

            held.release();

            // Two looks, at most 250 ms apart; the rest is for a busy machine.
            Lease next = await().atMost(SOON).until(() -> waiting.getNow(null), lease -> lease != null);
            assertThat(next.token()).isGreaterThan(held.token());
            next.release();
            assertThat(one.lock(name).tryAcquire(SOON))
                    .as("and goes on without it")
                    .isPresent();
        }
    }

    @ParameterizedTest
    @EnumSource(
            names = "POSTGRESQL",
            mode = EnumSource.Mode.EXCLUDE) // there who queues in vain stands in line after a second anyway
    void isNotQueuedForAgainSoonBySomebodyWhoMissedIt(Database database) throws Exception {
        String name = Database.unique("mistrusted");
        Holdfast one = client(database);
        Holdfast two = client(database);
        one.lock(name).acquire().release();
        try (Connection stuck = database.connect()) {
            assertThat(baton(database, stuck, name).tryTake(stuck)).isTrue();
            Lease held = one.lock(name).acquire();
            CompletableFuture<Lease> waiting = two.lock(name).acquireAsync();
            await().atMost(SOON).until(() -> queued(database) == 1);
            held.release();
            await().atMost(SOON).until(waiting::isDone);
            waiting.join().release();
            // The place left to the baton would lapse in a second, but there are only five until it is trusted again.
            database.execute("UPDATE holdfast_lock SET line = '', line_until = 0 WHERE name = '" + name + "'");
            assertThat(one.lock(name).tryAcquire()).isPresent();

            two.lock(name).acquireAsync();

            // A place of its own is what nobody has who queues for the baton.
            await().atMost(SOON)
                    .until(() -> database.number("SELECT COUNT(*) FROM holdfast_lock WHERE name = '" + name
                                    + "' AND line <> '' AND line NOT LIKE '" + Line.RELAY + "%'")
                            == 1);
        }
    }

    @ParameterizedTest
    @EnumSource(
            names = "POSTGRESQL",
            mode = EnumSource.Mode.EXCLUDE) // there a busy machine may make them stand in line
    void whoReleasesDoesNotTakeItAgainBeforeThoseWhoQueue(Database database) throws Exception {
        String name = Database.unique("again");
        Lease held = client(database).lock(name).acquire();
        List<CompletableFuture<Lease>> waiting = queueUp(database, name, 5);
        held.release();

        for (int i = 0; i < waiting.size() - 1; i++) {
            waiting.get(i).get(SOON.toSeconds(), TimeUnit.SECONDS).release();

            assertThat(clients.get(1 + i).lock(name).tryAcquire()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void isNotMissedWhenTheServerEndsTheWait(Database database) throws Exception {
        String name = Database.unique("killed");
        Lease held = client(database).lock(name).acquire();
        List<CompletableFuture<Lease>> waiting = queueUp(database, name, 2);

        if (database == Database.POSTGRESQL) {
            database.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'");
        } else {
            database.execute("KILL "
                    + database.number("SELECT id FROM information_schema.processlist WHERE state = 'User lock'"));
            await().atMost(SOON).until(() -> queued(database) == 0);
        }
        held.release();

        allAreServed(waiting);
    }

    @ParameterizedTest
    @EnumSource
    void goesOnWhenTheLockIsNoLongerItsHoldersAlone(Database database) throws Exception {
        String name = Database.unique("shared-now");
        Holdfast first = client(database);
        Holdfast second = client(database);
        Lease held = first.lock(name).acquire();
        CompletableFuture<Lease> writing =
                second.readWriteLock(name).writeLock().acquireAsync();
        await().atMost(SOON).until(() -> !isBatonFree(database, name));
        held.release();
        await().atMost(SOON).until(writing::isDone);

        Lease reading = second.readWriteLock(name).downgrade(writing.join());

        await().atMost(SOON).until(() -> isBatonFree(database, name));
        reading.release();
    }

    @ParameterizedTest
    @EnumSource
    void goesOnWhenItsHolderHasLostTheLock(Database database) throws Exception {
        String name = Database.unique("forced");
        LockOptions brief = LockOptions.defaults().withTtl(Duration.ofSeconds(3));
        Lease held = client(database).lock(name).acquire();
        Holdfast second = client(database);
        CompletableFuture<Lease> waiting = second.lock(name, brief).acquireAsync();
        await().atMost(SOON).until(() -> !isBatonFree(database, name));
        held.release();
        await().atMost(SOON).until(waiting::isDone);

        second.administration().forceRelease(name);

        await().atMost(SOON).until(() -> !waiting.join().isValid() && isBatonFree(database, name));
    }

    @ParameterizedTest
    @EnumSource
    void isReleasedThoughTheConnectionWithTheBatonIsGone(Database database) throws Exception {
        // A busy machine may have the lock taken without the baton.
        Takes.bestOf(3, () -> {
            String name = Database.unique("holder-killed");
            Lease held = client(database).lock(name).acquire();
            CompletableFuture<Lease> waiting = client(database).lock(name).acquireAsync();
            await().atMost(SOON).until(() -> !isBatonFree(database, name));
            held.release();
            await().atMost(SOON).until(waiting::isDone);
            Holdfast third = client(database);
            CompletableFuture<Lease> next = third.lock(name).acquireAsync();

            if (database == Database.POSTGRESQL) {
                database.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted");
            } else {
                long session = database.number("SELECT IS_USED_LOCK('" + keyOf(database, name) + "')");
                assertThat(session).as("who has the baton").isPositive();
                database.execute("KILL " + session);
            }
            waiting.join().release();

            await().atMost(SOON).until(next::isDone);
            next.join().release();
        });
    }

    /** It would keep a snapshot: VACUUM could not clear up, and CREATE INDEX CONCURRENTLY by the holder would never end. */
    @Test
    void noStatementWaitsForLongOnPostgres() throws Exception {
        String name = Database.unique("slow");
        Lease held = client(Database.POSTGRESQL).lock(name).acquire();
        List<CompletableFuture<Lease>> waiting = queueUp(Database.POSTGRESQL, name, 3);

        await().atMost(SOON).until(() -> queued(Database.POSTGRESQL) == 0);
        await().during(Duration.ofSeconds(1)).atMost(SOON).until(() -> queued(Database.POSTGRESQL) == 0);
        held.release();

        allAreServed(waiting);
    }

    @ParameterizedTest
    @EnumSource
    void isNotHeldUpByThePlaceOfTheDead(Database database) throws Exception {
        String name = Database.unique("dead-first");
        Lease held = client(database).lock(name).acquire();
        List<CompletableFuture<Lease>> waiting = queueUp(database, name, 2);
        String dead = "d".repeat(Line.CLIENT_LENGTH) + "e" + "0".repeat(15) + "1";
        database.execute("UPDATE holdfast_lock SET line = CONCAT('" + dead + "', line) WHERE name = '" + name + "'");

        held.release();

        allAreServed(waiting);
    }

    @ParameterizedTest
    @EnumSource
    void takesNoMoreConnectionsThanAllowed(Database database) throws Exception {
        Holdfast holder = client(database);
        Holdfast waiter = client(database, "&batons=2");
        List<Lease> held = new ArrayList<>();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            names.add(Database.unique("many"));
            held.add(holder.lock(names.get(i)).acquire());
            waiting.add(waiter.lock(names.get(i)).acquireAsync());
        }
        await().atMost(SOON)
                .until(() ->
                        names.stream().filter(name -> isTaken(database, name)).count() == 2);

        held.forEach(Lease::release);

        allAreServed(waiting);
    }

    private static boolean isTaken(Database database, String name) {
        try {
            return !isBatonFree(database, name);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void thoseWhoPollAreNotStarvedByThoseWhoQueue(Database database) throws Exception {
        Holdfast[] contenders = {client(database), client(database), client(database, "&batons=0")};
        Takes.bestOf(5, () -> {
            // Long enough that who comes to its first turn late, or first by chance, is not what counts.
            List<Integer> order = contend(Database.unique("mixed"), 4 * ROUNDS, contenders);

            List<Integer> firstHalf = order.subList(0, order.size() / 2);
            assertThat(firstHalf.stream().filter(number -> number == 2).count())
                    .as("turns of the one that polls among the first half: %s", order)
                    .isGreaterThan(40);
        });
    }

    /** A place that its client does not use holds everybody up until it lapses. */
    @ParameterizedTest
    @EnumSource(
            names = "POSTGRESQL",
            mode = EnumSource.Mode.EXCLUDE) // there a busy machine may make them stand in line
    void thoseWhoQueueHaveNoPlacesOfTheirOwn(Database database) throws Exception {
        Holdfast[] contenders = {client(database), client(database), client(database), client(database)};
        // Whoever is stopped with the baton in hand is mistrusted for a while, and the others stand in line.
        Takes.bestOf(3, () -> {
            String name = Database.unique("places");
            List<String> lines = new ArrayList<>();
            contenders[0].lock(name).acquire().release();
            try (Connection connection = database.connect();
                    PreparedStatement look =
                            connection.prepareStatement("SELECT line FROM holdfast_lock WHERE name = '" + name + "'")) {
                CompletableFuture<List<Integer>> contention =
                        CompletableFuture.supplyAsync(() -> contend(name, ROUNDS, contenders));
                while (!contention.isDone()) {
                    try (ResultSet rows = look.executeQuery()) {
                        rows.next();
                        lines.add(rows.getString(1));
                    }
                }
                assertThat(contention.join()).hasSize(4 * ROUNDS);
            }

            assertThat(lines)
                    .anyMatch(line -> line.startsWith(Line.RELAY))
                    .allMatch(line ->
                            line.isEmpty() || line.startsWith(Line.RELAY) && line.length() == Line.PLACE_LENGTH);
        });
    }

    /** Everybody takes the lock again and again, all connected from the start. Returns whose turn it was each time. */
    private static List<Integer> contend(String name, int rounds, Holdfast... contenders) {
        List<Integer> order = new CopyOnWriteArrayList<>();
        CyclicBarrier allConnected = new CyclicBarrier(contenders.length);
        ExecutorService threads = Executors.newFixedThreadPool(contenders.length);
        List<Future<?>> done = new ArrayList<>();
        for (int i = 0; i < contenders.length; i++) {
            int number = i;
            done.add(threads.submit(() -> {
                contenders[number].lock(name).run(() -> {});
                allConnected.await();
                for (int round = 0; round < rounds; round++) {
                    contenders[number].lock(name).run(() -> order.add(number));
                }
                return null;
            }));
        }
        threads.shutdown();
        try {
            for (Future<?> one : done) {
                one.get(60, TimeUnit.SECONDS);
            }
        } catch (Exception e) {
            throw new AssertionError("those who contended: " + order, e);
        }
        return order;
    }
}
