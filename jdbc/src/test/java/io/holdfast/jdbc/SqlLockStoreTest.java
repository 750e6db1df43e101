package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.jdbc.HeldTicket.Told;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreUri;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Withdrawal;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A lock in a row")
class SqlLockStoreTest {

    private static final Duration SHORT = Duration.ofMillis(200);
    private static final Duration LONG = Duration.ofSeconds(30);

    private static final Map<Database, OpenStore> STORES = new EnumMap<>(Database.class);

    private static OpenStore open(Database database) {
        return STORES.computeIfAbsent(database, missing -> new OpenStore(missing.storeUrl()));
    }

    private final List<OpenStore> others = new ArrayList<>();

    @AfterEach
    void closeOthers() {
        others.forEach(OpenStore::close);
    }

    @AfterAll
    static void closeAll() {
        STORES.values().forEach(OpenStore::close);
    }

    @ParameterizedTest
    @EnumSource
    void isTakenByOneAndRefusedToOthersWithTheTimeLeft(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("one");

        HeldTicket grant = client.hold(name);
        Optional<Refusal> second = client.refusal(name, Demand.exclusive(), LONG);

        assertThat(grant.token()).isPositive();
        assertThat(second.orElseThrow().holderTimeLeft().orElseThrow()).isBetween(Duration.ofSeconds(20), LONG);
    }

    @ParameterizedTest
    @EnumSource
    void goesToTheNextAfterReleaseWithALargerToken(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("next");
        HeldTicket first = client.hold(name);

        assertThat(client.release(first)).isEqualTo(ReleaseAnswer.RELEASED);
        HeldTicket second = client.hold(name);

        assertThat(second.token()).isGreaterThan(first.token());
        assertThat(client.release(first)).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(client.take(name)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void passesOnWhenItExpires(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("expiry");
        HeldTicket first = client.take(name, Demand.exclusive(), SHORT).orElseThrow();

        await().until(() -> client.take(name).isPresent());

        assertThat(client.renew(first, LONG)).isEqualTo(Told.GONE);
    }

    @ParameterizedTest
    @EnumSource
    void isNotRevivedByARenewalAfterItsTime(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("revive");
        HeldTicket late = client.take(name, Demand.exclusive(), SHORT).orElseThrow();

        await().until(() -> !client.store.view(name, OpenStore.soon()).isHeld());

        assertThat(client.renew(late, LONG)).isEqualTo(Told.GONE);
        assertThat(client.release(late)).isEqualTo(ReleaseAnswer.NOT_HELD);
    }

    @ParameterizedTest
    @EnumSource
    void renewalOfManySaysWhichAreGone(Database database) {
        OpenStore client = open(database);
        List<HeldTicket> held = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            held.add(client.hold(Database.unique("many"), i % 50 == 0 ? Demand.shared() : Demand.exclusive()));
        }
        client.release(held.get(301));
        client.release(held.get(300));

        client.store.renew(held.stream().map(each -> each.ticket).toList(), OpenStore.soon());

        for (int i = 0; i < 600; i++) {
            boolean released = i == 300 || i == 301;
            assertThat(held.get(i).told()).as("ticket %d", i).isEqualTo(released ? Told.GONE : Told.KEPT);
        }
    }

    @ParameterizedTest
    @EnumSource
    void renewalNeverShortens(Database database) {
        OpenStore client = open(database);
        for (Demand demand : List.of(Demand.exclusive(), Demand.shared(), Demand.permits(1, 2))) {
            HeldTicket grant = client.hold(Database.unique("shorten"), demand);

            assertThat(client.renew(grant, SHORT)).isEqualTo(Told.KEPT);

            assertThat(timeLeft(client, grant)).isGreaterThan(Duration.ofSeconds(20));
        }
    }

    @ParameterizedTest
    @EnumSource
    void differentNamesAreDifferentLocks(Database database) {
        OpenStore client = open(database);
        String id = Database.unique("");

        for (String name : List.of(
                "Job", "job", "job ", " job", "jöb", "job\u0301", "a/b", "a%2Fb", "😀", "x'y", "x\\y", "%", "_")) {
            assertThat(client.take(id + name)).as("'%s'", name).isPresent();
            assertThat(client.take(id + name)).as("'%s' again", name).isEmpty();
        }
        assertThat(client.take("é".repeat(256).substring(0, 200) + id)).isPresent();
    }

    @ParameterizedTest
    @EnumSource
    void isSharedByReadersAndRefusedToWriters(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("shared");
        HeldTicket one = client.hold(name, Demand.shared());
        HeldTicket two = client.hold(name, Demand.shared());

        assertThat(one.token()).isNotEqualTo(two.token());
        assertThat(client.take(name)).isEmpty();
        assertThat(client.release(one)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(client.take(name)).isEmpty();
        assertThat(client.release(two)).isEqualTo(ReleaseAnswer.RELEASED);

        HeldTicket writer = client.hold(name);
        assertThat(writer.token()).isGreaterThan(two.token());
        assertThat(client.take(name, Demand.shared())).isEmpty();
        assertThat(client.renew(two, LONG)).isEqualTo(Told.GONE);
    }

    @ParameterizedTest
    @EnumSource
    void readersOutliveEachOther(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("crowd");
        HeldTicket brief = client.take(name, Demand.shared(), SHORT).orElseThrow();
        HeldTicket lasting = client.hold(name, Demand.shared());

        await().until(() -> client.store.view(name, OpenStore.soon()).holders().size() == 1);

        assertThat(client.renew(brief, LONG)).isEqualTo(Told.GONE);
        assertThat(client.renew(lasting, LONG)).isEqualTo(Told.KEPT);
        assertThat(client.take(name)).isEmpty();
        client.release(lasting);
        assertThat(client.take(name)).isPresent();
    }

    @ParameterizedTest
    @EnumSource
    void permitsKeepWithinTheSmallestTotal(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("permits");
        HeldTicket two = client.hold(name, Demand.permits(2, 3));

        assertThat(client.take(name, Demand.permits(2, 5))).isEmpty();
        assertThat(client.take(name, Demand.permits(1, 2))).isEmpty();
        HeldTicket third = client.hold(name, Demand.permits(1, 5));
        assertThat(client.take(name, Demand.permits(1, 5))).isEmpty();
        assertThat(client.take(name, Demand.shared())).isEmpty();
        client.release(two);
        assertThat(client.take(name, Demand.permits(2, 3))).isPresent();
        assertThat(third.token()).isGreaterThan(two.token());
    }

    @ParameterizedTest
    @EnumSource
    void aWaitingWriterKeepsNewReadersOutButASingleTryDoesNot(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("queue");
        HeldTicket reader = client.hold(name, Demand.shared());

        assertThat(client.take(name)).isEmpty();
        HeldTicket late = client.hold(name, Demand.shared());

        HeldTicket writer = client.enqueue(name, Demand.exclusive(), LONG);
        assertThat(client.take(name, Demand.shared())).isEmpty();
        client.release(reader);
        assertThat(writer.ticket.state()).isEqualTo(Ticket.State.WAITING);
        HeldTicket behind = client.enqueue(name, Demand.shared(), LONG);
        client.release(late);
        assertThat(writer.ticket.state()).isEqualTo(Ticket.State.HELD);

        assertThat(client.take(name, Demand.shared())).isEmpty();
        assertThat(behind.ticket.state()).isEqualTo(Ticket.State.WAITING);
        client.release(writer);
        assertThat(behind.ticket.state()).isEqualTo(Ticket.State.HELD);
        assertThat(behind.token()).isGreaterThan(writer.token());
        assertThat(client.take(name, Demand.shared())).isPresent();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("P4 a dead waiter is in nobody's way once its time is over, and is cleared away")
    void aDeadWaiterIsInNobodysWay(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("dead-waiter");
        HeldTicket held = client.hold(name);
        another(database).enqueue(name, Demand.exclusive(), LONG);
        client.release(held);
        assertThat(client.take(name)).as("others wait for it").isEmpty();
        database.execute("UPDATE holdfast_lock_ticket SET expires_at = 1 WHERE name = '" + name + "'");

        assertThat(client.take(name)).isPresent();

        client.store.prune(LONG, OpenStore.soon());
        assertThat(tickets(database, name)).isZero();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("P6 who waits longer than its lock's row was marked for is not passed")
    void marksItsLockAgainWhileItWaits(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("mark");
        HeldTicket held = client.hold(name);
        OpenStore other = another(database);
        other.enqueue(name, Demand.exclusive(), LONG);
        HeldTicket leaving = other.enqueue(name, Demand.exclusive(), LONG);
        database.execute("UPDATE holdfast_lock SET queued_until = 1 WHERE name = '" + name + "'");

        other.withdraw(leaving); // That it looks at the lock.

        client.release(held);
        assertThat(another(database).take(name)).as("others wait for it").isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("passes on to the next of the same client without a look if that is known to be the first")
    void passesOnWithinAClientWithoutALook(Database database) {
        AtomicInteger statements = new AtomicInteger();
        OpenStore client = new OpenStore(JdbcStores.using(
                        WatchedConnections.of(database::connect, new WatchedConnections.Watcher() {
                            @Override
                            public void after(Connection connection) {
                                statements.incrementAndGet();
                            }
                        }))
                .withSchemaCreated());
        others.add(client);
        String name = Database.unique("local");
        HeldTicket held = client.hold(name);
        HeldTicket next = enqueueAndLook(client, name);
        statements.set(0);

        client.release(held);

        assertThat(next.ticket.state()).isEqualTo(Ticket.State.HELD);
        assertThat(statements.get())
                .as("of the release and the grant")
                .isEqualTo(
                        switch (database) {
                            case POSTGRESQL -> 2;
                            case MARIADB, MARIADB_WITH_MYSQL_DRIVER -> 3;
                            case H2 -> 4;
                        });
        assertThat(client.take(name)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("P1 a release that frees nothing lets nobody in, also not who is known to be the first")
    void aReleaseThatFreesNothingLetsNobodyIn(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("stale-release");
        HeldTicket stale = client.hold(name);
        database.execute("UPDATE holdfast_lock SET expires_at = 1 WHERE name = '" + name + "'");
        OpenStore other = another(database);
        HeldTicket current = other.hold(name);
        HeldTicket next = enqueueAndLook(client, name);

        assertThat(client.release(stale)).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(next.ticket.state()).isEqualTo(Ticket.State.WAITING);

        other.release(current);
        client.withdraw(client.enqueue(name, Demand.exclusive(), LONG)); // That it looks at the lock.
        assertThat(next.ticket.state()).isEqualTo(Ticket.State.HELD);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("P6 a release lets in who waits first, though another ticket of the same client waits too")
    void aReleaseLetsInWhoWaitsFirst(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("in-order");
        HeldTicket held = client.hold(name);
        OpenStore other = another(database);
        HeldTicket first = other.enqueue(name, Demand.exclusive(), LONG);
        HeldTicket second = enqueueAndLook(client, name);

        client.release(held);

        assertThat(second.ticket.state()).isEqualTo(Ticket.State.WAITING);
        other.withdraw(other.enqueue(name, Demand.exclusive(), LONG)); // That it looks at the lock.
        assertThat(first.ticket.state()).isEqualTo(Ticket.State.HELD);
    }

    /** Whether others are ahead of it is known afterwards. */
    private static HeldTicket enqueueAndLook(OpenStore client, String name) {
        HeldTicket first = client.enqueue(name, Demand.exclusive(), LONG);
        HeldTicket leaving = client.enqueue(name, Demand.exclusive(), LONG);
        leaving.ticket.gone(LossReason.GONE, "it gives up");
        client.withdraw(leaving);
        return first;
    }

    @ParameterizedTest
    @EnumSource
    void canBeTakenThoughItsRowIsMarkedOnceNobodyWaits(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("marked");
        HeldTicket held = client.hold(name);
        OpenStore other = another(database);
        HeldTicket waiter = other.enqueue(name, Demand.exclusive(), LONG);
        client.release(held);
        OpenStore third = another(database);
        assertThat(third.take(name)).as("others wait for it").isEmpty();

        other.withdraw(waiter);

        HeldTicket next = third.hold(name);
        assertThat(third.release(next)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(another(database).take(name)).isPresent();
    }

    @ParameterizedTest
    @EnumSource
    void aTicketFromBeforeTheClockWasSetBackCountsOnlyOnceItIsRenewed(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("set-back");
        HeldTicket held = client.hold(name);
        OpenStore other = another(database);
        HeldTicket waiter = other.enqueue(name, Demand.exclusive(), LONG);
        long anHour = Duration.ofHours(1).toNanos() / 1000;
        database.execute(
                "UPDATE holdfast_lock_ticket SET expires_at = expires_at + " + anHour + " WHERE name = '" + name + "'");

        client.release(held);
        HeldTicket passing = client.hold(name);
        client.release(passing);
        other.store.renew(List.of(waiter.ticket), OpenStore.soon());

        assertThat(waiter.told()).isEqualTo(Told.KEPT);
        assertThat(client.take(name)).as("others wait for it").isEmpty();
    }

    /** On MySQL a statement has the time of its beginning, and may find a ticket that was renewed a moment later. */
    @ParameterizedTest
    @EnumSource
    @DisplayName("P6 a ticket that was renewed while a request was under way is not passed by it")
    void aTicketRenewedAMomentAgoIsNotPassed(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("renewed-just-now");
        HeldTicket held = client.hold(name);
        another(database).enqueue(name, Demand.exclusive(), LONG);
        database.execute("UPDATE holdfast_lock_ticket SET expires_at = " + database.micros() + " + ttl + 500000"
                + " WHERE name = '" + name + "'");

        client.release(held);

        assertThat(client.take(name)).as("others wait for it").isEmpty();
    }

    /** The statement of the renewal was made for a writer, and comes to the server after that of the downgrade. */
    @ParameterizedTest
    @EnumSource
    @DisplayName("P5 a renewal that meets a downgrade under way does not cost the lease")
    void aRenewalThatMeetsADowngradeDoesNotCostTheLease(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("meets-downgrade");
        HeldTicket writer = client.hold(name);
        Ticket notToldYet = writer.ticket.forNode(new Ticket.Listener() {});
        notToldYet.granted(writer.token(), LONG, System.nanoTime());
        client.store.downgrade(notToldYet, OpenStore.soon());
        assertThat(writer.ticket.demand()).isEqualTo(Demand.exclusive());

        client.store.renew(List.of(writer.ticket), OpenStore.soon());

        assertThat(writer.told()).isEqualTo(Told.KEPT);
        assertThat(client.renew(writer, LONG)).isEqualTo(Told.KEPT);
    }

    /** On MySQL and MariaDB leaving is one statement, and deleting what it left of the ticket another. */
    @Test
    @DisplayName("P3 a release is answered as such though what is left of the ticket cannot be deleted")
    void aReleaseStandsThoughItsTicketCannotBeDeleted() {
        Database database = Database.MARIADB;
        String name = Database.unique("undeleted");
        try (OpenStore client = new OpenStore(database.storeUrl() + "&table=undeleted")) {
            HeldTicket reader = client.hold(name, Demand.shared());
            database.execute("CREATE OR REPLACE TRIGGER undeleted BEFORE DELETE ON undeleted_ticket FOR EACH ROW"
                    + " SIGNAL SQLSTATE '40001' SET MESSAGE_TEXT = 'a deadlock'");

            assertThat(client.release(reader)).isEqualTo(ReleaseAnswer.RELEASED);

            database.execute("DROP TRIGGER undeleted");
            assertThat(client.take(name)).isPresent();
        }
    }

    @Test
    void canBeWaitedForThroughConnectionsThatSendTextWithoutItsType() {
        String name = Database.unique("untyped");
        try (OpenStore untyped = new OpenStore(Database.POSTGRESQL.storeUrl() + "&stringtype=unspecified")) {
            HeldTicket held = untyped.hold(name, Demand.shared());
            HeldTicket waiter = untyped.enqueue(name, Demand.exclusive(), LONG);
            untyped.release(held);

            assertThat(waiter.ticket.state()).isEqualTo(Ticket.State.HELD);
            assertThat(untyped.renew(waiter, LONG)).isEqualTo(Told.KEPT);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("P4 what a row says to be taken is set right if its tickets say otherwise")
    void isSetRightIfItsTicketsSayOtherwise(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("drift");
        HeldTicket reader = client.hold(name, Demand.shared());
        client.hold(name, Demand.shared());
        database.execute("DELETE FROM holdfast_lock_ticket WHERE owner = '" + reader.ticket.owner() + "'");
        HeldTicket other = client.hold(name, Demand.shared());

        assertThat(client.take(name)).isEmpty();
        assertThat(taken(database, name)).isEqualTo(2);
        assertThat(client.release(reader)).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(client.release(other)).isEqualTo(ReleaseAnswer.RELEASED);
        database.execute("DELETE FROM holdfast_lock_ticket WHERE name = '" + name + "'");

        assertThat(client.take(name)).isPresent();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("P9 a thousand dead readers are cleared away by one who wants the lock")
    void aThousandDeadReadersAreClearedAway(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("dead-readers");
        client.hold(name, Demand.shared());
        HeldTicket alive = client.hold(name, Demand.shared());
        for (int i = 0; i < 999; i += 3) {
            database.execute("INSERT INTO holdfast_lock_ticket (owner, name, state, kind, permits, total, token, since,"
                    + " ttl, expires_at, renewals) VALUES " + dead(name, i) + ", " + dead(name, i + 1) + ", "
                    + dead(name, i + 2));
        }
        database.execute("UPDATE holdfast_lock SET taken = taken + 999 WHERE name = '" + name + "'");

        assertThat(client.take(name)).isEmpty();
        assertThat(taken(database, name)).isEqualTo(2);
        assertThat(tickets(database, name)).isEqualTo(2);
        assertThat(client.renew(alive, LONG)).isEqualTo(Told.KEPT);
    }

    private static String dead(String name, int number) {
        return "('dead-" + name + "-" + number + "', '" + name + "', 'held', 'shared', 1, " + Integer.MAX_VALUE
                + ", 0, 0, 0, 1, 0)";
    }

    private static long taken(Database database, String name) {
        return database.number("SELECT taken FROM holdfast_lock WHERE name = '" + name + "'");
    }

    private static long tickets(Database database, String name) {
        return database.number("SELECT COUNT(*) FROM holdfast_lock_ticket WHERE name = '" + name + "'");
    }

    /** A client of its own. */
    private OpenStore another(Database database) {
        OpenStore client = new OpenStore(database.storeUrl());
        others.add(client);
        return client;
    }

    @ParameterizedTest
    @EnumSource
    void aRowWhoseTokenTheClockHasNotReachedIsNotPruned(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("ahead");
        HeldTicket before = client.hold(name);
        client.release(before);
        long ahead = before.token() + Duration.ofDays(10).toNanos() / 1000;
        database.execute("UPDATE holdfast_lock SET acquired_at = 0, token = " + ahead + " WHERE name = '" + name + "'");

        client.store.prune(Duration.ofMillis(1), OpenStore.soon());

        assertThat(client.hold(name).token()).isGreaterThan(ahead);
    }

    @ParameterizedTest
    @EnumSource
    void withdrawRemovesWhatARequestLeft(Database database) {
        OpenStore client = open(database);
        for (Demand demand : List.of(Demand.exclusive(), Demand.shared(), Demand.permits(1, 1))) {
            String name = Database.unique("withdraw");
            HeldTicket grant = client.hold(name, demand);

            assertThat(client.withdraw(grant)).isEqualTo(Withdrawal.REMOVED);
            assertThat(client.withdraw(grant)).isEqualTo(Withdrawal.NOT_FOUND);
            assertThat(client.take(name)).isPresent();
        }
    }

    @ParameterizedTest
    @EnumSource
    void lingersByNobodyAfterRelease(Database database) throws Exception {
        OpenStore client = open(database);
        Duration linger = Duration.ofSeconds(1);
        for (Demand demand : List.of(Demand.exclusive(), Demand.shared(), Demand.permits(1, 1))) {
            Takes.within(linger, watch -> {
                String name = Database.unique("linger");
                HeldTicket grant = client.hold(name, demand);
                watch.start();

                client.release(grant, linger);

                assertThat(client.take(name)).isEmpty();
                assertThat(client.store.view(name, OpenStore.soon()).holders())
                        .allSatisfy(holder -> assertThat(holder.origin()).isEmpty());
                assertThat(client.renew(grant, LONG)).isEqualTo(Told.GONE);
                await().until(() -> client.take(name).isPresent());
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWriterGoesOnAsAReader(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("downgrade");
        HeldTicket writer = client.hold(name);

        long token = writer.token();
        client.store.downgrade(writer.ticket, OpenStore.soon());

        assertThat(writer.ticket.demand()).isEqualTo(Demand.shared());
        assertThat(writer.token()).isEqualTo(token);
        assertThat(client.take(name, Demand.shared())).isPresent();
        assertThat(client.take(name)).isEmpty();
        assertThat(client.renew(writer, LONG)).isEqualTo(Told.KEPT);
        client.store.downgrade(writer.ticket, OpenStore.soon());
        assertThat(writer.told()).as("it is no writer any more").isEqualTo(Told.GONE);
    }

    /** What it waited with is deleted after it was told, so that it may want to go on as a reader before. */
    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "MARIADB_WITH_MYSQL_DRIVER"})
    @DisplayName("P5 a writer goes on as a reader though the ticket it waited with is still there")
    void aWriterGoesOnAsAReaderThoughItsTicketIsStillThere(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("still-there");
        HeldTicket writer = client.hold(name);
        database.execute("INSERT INTO holdfast_lock_ticket (owner, name, state, kind, permits, total, token, since,"
                + " ttl, expires_at, renewals) VALUES ('" + writer.ticket.owner() + "', '" + name
                + "', 'ended', 'exclusive', 1, 1, 0, 0, 0, 0, 0)");

        client.store.downgrade(writer.ticket, OpenStore.soon());

        assertThat(writer.ticket.demand()).isEqualTo(Demand.shared());
        assertThat(client.renew(writer, LONG)).isEqualTo(Told.KEPT);
    }

    @ParameterizedTest
    @EnumSource
    void aForcedReleaseTakesItFromAllAndAdvancesTheToken(Database database) {
        OpenStore client = open(database);
        for (Demand demand : List.of(Demand.exclusive(), Demand.shared())) {
            String name = Database.unique("force");
            HeldTicket grant = client.hold(name, demand);

            assertThat(client.store.forceRelease(name, OpenStore.soon())).isEqualTo(1);

            assertThat(client.renew(grant, LONG)).isEqualTo(Told.GONE);
            assertThat(client.hold(name).token()).isGreaterThan(grant.token() + 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void raisedTokensCountFromThere(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("raise");
        long floor = (1L << 52) + 7;

        client.store.raise(name, floor, OpenStore.soon());
        client.store.raise(name, 5, OpenStore.soon());

        HeldTicket grant = client.hold(name);
        assertThat(grant.token()).isEqualTo(floor + 1);
        client.store.raise(name, floor + 100, OpenStore.soon());
        assertThat(client.renew(grant, LONG)).isEqualTo(Told.KEPT);
    }

    @ParameterizedTest
    @EnumSource
    void viewsShowWhoHoldsWhat(Database database) {
        OpenStore client = open(database);
        String id = Database.unique("view_%");
        HeldTicket exclusive = client.hold(id + "/a");
        client.hold(id + "/b", Demand.permits(2, 3));
        client.hold(id + "/b", Demand.permits(1, 3));
        client.release(client.hold(id + "/c"));

        List<LockView> views = views(client, id);

        assertThat(views).extracting(LockView::name).containsExactly(id + "/a", id + "/b");
        LockView.Holder holder = views.get(0).holders().get(0);
        assertThat(holder.token()).contains(exclusive.token());
        assertThat(holder.origin()).contains(exclusive.ticket.origin());
        assertThat(views.get(1).holders())
                .extracting(LockView.Holder::demand)
                .containsExactly(Demand.permits(2, 3), Demand.permits(1, 3));
        assertThat(client.store.view(id + "/c", OpenStore.soon()).isHeld()).isFalse();
        assertThat(views(client, id.toUpperCase(Locale.ROOT))).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void pruneRemovesRowsIdleForLong(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("prune");
        HeldTicket old = client.hold(name);
        client.release(old);
        HeldTicket held = client.hold(Database.unique("held"));

        await().until(() -> client.store.prune(Duration.ofMillis(10), OpenStore.soon()) > 0);

        assertThat(rows(database, name)).isZero();
        assertThat(client.renew(held, LONG)).isEqualTo(Told.KEPT);
        assertThat(client.hold(name).token()).isGreaterThan(old.token());
    }

    @ParameterizedTest
    @EnumSource
    void pruneWaitsForNoRowOfALockInUse(Database database) throws SQLException {
        OpenStore client = open(database);
        String idle = Database.unique("idle");
        client.release(client.hold(idle));
        String used = Database.unique("used");
        client.hold(used);

        try (Connection administrator = database.connect();
                Statement statement = administrator.createStatement()) {
            administrator.setAutoCommit(false);
            statement.execute("SELECT 1 FROM holdfast_lock WHERE name = '" + used + "' FOR UPDATE");

            await().atMost(LONG).until(() -> {
                client.store.prune(Duration.ofMillis(10), OpenStore.soon());
                return rows(database, idle) == 0;
            });
            assertThat(rows(database, used)).isOne();
            administrator.rollback();
        }
    }

    @ParameterizedTest
    @EnumSource
    void oneRowIsLeftHoweverOftenItWasUsed(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("rows");
        for (int i = 0; i < 3; i++) {
            for (Demand demand : List.of(Demand.exclusive(), Demand.shared(), Demand.permits(1, 3))) {
                client.release(client.hold(name, demand));
            }
        }

        assertThat(rows(database, name)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void aFreeLockStaysFreeWhenTheServersClockIsSetBack(Database database) {
        OpenStore client = open(database);
        for (Demand demand : List.of(Demand.exclusive(), Demand.shared(), Demand.permits(1, 3))) {
            String released = Database.unique("released");
            client.release(client.hold(released, demand));
            String withdrawn = Database.unique("withdrawn");
            client.withdraw(client.hold(withdrawn, demand));
            String forced = Database.unique("forced");
            client.hold(forced, demand);
            client.store.forceRelease(forced, OpenStore.soon());

            for (String name : List.of(released, withdrawn, forced)) {
                assertThat(database.number("SELECT taken FROM holdfast_lock WHERE name = '" + name + "'"))
                        .as("%s %s", demand, name)
                        .isZero();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsTakenIsTheSumOfWhatTheTicketsHold(Database database) {
        OpenStore client = open(database);
        String name = Database.unique("sum");
        HeldTicket one = client.hold(name, Demand.permits(2, 9));
        HeldTicket two = client.hold(name, Demand.permits(4, 7));
        assertThat(taken(database, name)).isEqualTo(6);
        assertThat(client.take(name, Demand.permits(2, 9))).isEmpty();
        client.release(one);
        assertThat(taken(database, name)).isEqualTo(4);
        client.withdraw(two);
        client.withdraw(two);
        client.release(two);
        assertThat(taken(database, name)).isZero();
        assertThat(tickets(database, name)).isZero();
    }

    private static long rows(Database database, String name) {
        return database.number("SELECT (SELECT COUNT(*) FROM holdfast_lock WHERE name = '" + name
                + "') + (SELECT COUNT(*) FROM holdfast_lock_ticket WHERE name = '" + name + "')");
    }

    private static List<LockView> views(OpenStore client, String prefix) {
        return client.store
                .views(prefix, Optional.empty(), 100, OpenStore.soon())
                .locks();
    }

    private static Duration timeLeft(OpenStore client, HeldTicket grant) {
        Optional<Duration> left = client.store
                .view(grant.ticket.name(), OpenStore.soon())
                .holders()
                .get(0)
                .timeLeft();
        return left.orElseThrow();
    }

    @Test
    void isTakenThoughNobodyCanSweep() {
        AtomicLong ahead = new AtomicLong();
        AtomicInteger refused = new AtomicInteger();
        TimeSource time = new TimeSource() {
            @Override
            public long nanoTime() {
                return System.nanoTime() + ahead.get();
            }

            @Override
            public void parkUntil(Object blocker, long untilNanos) {
                throw new UnsupportedOperationException("nobody parks here");
            }
        };
        Executor full = task -> {
            refused.incrementAndGet();
            throw new IllegalStateException("full");
        };
        StoreUri uri = StoreUri.parse(Database.POSTGRESQL.storeUrl());
        OpenStore client = new OpenStore(new JdbcStores().store(uri), time, full);
        others.add(client);

        ahead.set(Duration.ofHours(1).toNanos());

        assertThat(client.take(Database.unique("unswept"))).isPresent();
        assertThat(refused).hasValue(1);
    }
}
