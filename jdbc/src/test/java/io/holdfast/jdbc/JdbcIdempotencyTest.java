package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.LeaseLostException;
import io.holdfast.LockOptions;
import io.holdfast.Renewal;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.jdbc.Idempotency.OnFailure;
import io.holdfast.jdbc.Idempotency.PayloadConflictException;
import io.holdfast.jdbc.Idempotency.RecordedFailureException;
import io.holdfast.jdbc.dialect.Dialect;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Idempotency")
class JdbcIdempotencyTest extends RecipeTest {

    private static final Duration DAY = Duration.ofDays(1);

    private final List<Holdfast> clients = new ArrayList<>();

    @AfterEach
    void closeClients() {
        clients.forEach(Holdfast::close);
    }

    private JdbcIdempotency idempotency(Database database) {
        return idempotency(database, pool(database));
    }

    private JdbcIdempotency idempotency(Database database, DataSource outcomes) {
        Holdfast client = Holdfast.builder()
                .store(JdbcStores.using(pool(database)).withSchemaCreated())
                .connect();
        clients.add(client);
        return JdbcIdempotency.on(client, outcomes);
    }

    /** Its lease ends after two seconds, whatever it does. */
    private JdbcIdempotency neverRenewing(Database database, DataSource outcomes) {
        return idempotency(database, outcomes)
                .withLockOptions(
                        LockOptions.defaults().withTtl(Duration.ofSeconds(2)).withRenewal(Renewal.NONE));
    }

    /** Stops before its key is claimed, until told to go on. */
    private static final class PauseBeforeClaim implements TroubledDataSource.Trouble {

        final CountDownLatch reached = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);

        @Override
        public void before(String sql) throws InterruptedException {
            reached.countDown();
            goOn.await();
        }
    }

    private static void untilReached(CountDownLatch point) throws InterruptedException {
        assertThat(point.await(1, TimeUnit.MINUTES)).isTrue();
    }

    private static long rows(Database database, String key) {
        return database.number("SELECT COUNT(*) FROM holdfast_idempotency WHERE request = '" + key + "'");
    }

    private static void untilExpired(Database database, String key) {
        String expired = "SELECT COUNT(*) FROM holdfast_idempotency WHERE request = '" + key + "' AND expires_at <= "
                + database.dialect().now();
        await().until(() -> database.number(expired) == 1);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void runsOnceForManyDuplicatesAtOnce(Database database) throws Exception {
        Idempotency one = idempotency(database);
        Idempotency two = idempotency(database);
        String key = Database.unique("order");
        AtomicInteger runs = new AtomicInteger();

        List<Future<String>> all = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Idempotency idempotency = i % 2 == 0 ? one : two;
            all.add(fork(() -> idempotency.run(
                    key, "same", DAY, ResultCodec.strings(), lease -> "result " + runs.incrementAndGet())));
        }

        for (Future<String> result : all) {
            assertThat(get(result)).isEqualTo("result 1");
        }
        assertThat(runs).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void tellsAnotherPayloadApart(Database database) throws Exception {
        Idempotency idempotency = idempotency(database);
        String key = Database.unique("order");
        byte[] result = idempotency.run(
                key, Idempotency.fingerprint("a"), DAY, ResultCodec.bytes(), lease -> new byte[] {0, -1});

        assertThat(idempotency.<byte[], RuntimeException>run(
                        key, Idempotency.fingerprint("a"), DAY, ResultCodec.bytes(), lease -> {
                            throw new AssertionError("ran twice");
                        }))
                .isEqualTo(result);
        assertThatThrownBy(() -> idempotency.run(
                        key, Idempotency.fingerprint("b"), DAY, ResultCodec.bytes(), lease -> new byte[0]))
                .isInstanceOf(PayloadConflictException.class);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void forgetsFailuresByDefaultAndRecordsThemWhenTold(Database database) throws Exception {
        JdbcIdempotency forgetting = idempotency(database);
        Idempotency recording = forgetting.withOnFailure(OnFailure.RECORD);
        String key = Database.unique("failing");

        assertThatThrownBy(() -> forgetting.run(key, "x", DAY, ResultCodec.strings(), lease -> {
                    throw new java.io.IOException("card declined");
                }))
                .isInstanceOf(java.io.IOException.class);
        assertThatThrownBy(() -> recording.run(key, "x", DAY, ResultCodec.strings(), lease -> {
                    throw new java.io.IOException("card declined");
                }))
                .isInstanceOf(java.io.IOException.class);

        assertThatThrownBy(() -> recording.run(key, "x", DAY, ResultCodec.strings(), lease -> "fine"))
                .isInstanceOf(RecordedFailureException.class)
                .hasMessageContaining("card declined");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void aNullResultIsAResult(Database database) throws Exception {
        JdbcIdempotency idempotency = idempotency(database);
        String key = Database.unique("null");
        AtomicInteger charged = new AtomicInteger();
        AtomicInteger written = new AtomicInteger();

        for (int i = 0; i < 3; i++) {
            assertThat(idempotency.<String, RuntimeException>run(key, "x", DAY, ResultCodec.strings(), lease -> {
                        charged.incrementAndGet();
                        return null;
                    }))
                    .isNull();
            assertThat(idempotency.<String, RuntimeException>runInTransaction(
                            key + "-in-transaction", "x", DAY, ResultCodec.strings(), (connection, lease) -> {
                                written.incrementAndGet();
                                return null;
                            }))
                    .isNull();
        }

        assertThat(charged).hasValue(1);
        assertThat(written).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void anEmptyResultIsNotNull(Database database) throws Exception {
        JdbcIdempotency idempotency = idempotency(database);
        String key = Database.unique("empty");

        for (int i = 0; i < 2; i++) {
            assertThat(idempotency.run(key, "x", DAY, ResultCodec.strings(), lease -> ""))
                    .isEmpty();
        }
    }

    /** What a codec may do with a result that it cannot write. */
    private enum Unwritable implements ResultCodec<String> {
        THROWS {
            @Override
            public byte[] encode(String result) {
                throw new IllegalArgumentException("cannot write " + result);
            }
        },
        RUNS_OUT_OF_STACK {
            @Override
            public byte[] encode(String result) {
                throw new StackOverflowError("cannot write " + result);
            }
        },
        RETURNS_NULL {
            @Override
            public byte[] encode(String result) {
                return null;
            }
        };

        @Override
        public String decode(byte[] recorded) {
            throw new AssertionError("nothing was written");
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void anActionWhoseResultCannotBeWrittenIsNotRunAgain(Database database) {
        for (OnFailure onFailure : OnFailure.values()) {
            JdbcIdempotency idempotency = idempotency(database).withOnFailure(onFailure);
            for (Unwritable codec : Unwritable.values()) {
                String key = Database.unique("unwritable");
                AtomicInteger charged = new AtomicInteger();
                Idempotency.Action<String, RuntimeException> charge = lease -> "receipt " + charged.incrementAndGet();

                assertThatThrownBy(() -> idempotency.run(key, "x", DAY, codec, charge))
                        .isNotInstanceOf(RecordedFailureException.class);
                for (int i = 0; i < 2; i++) {
                    assertThatThrownBy(() -> idempotency.run(key, "x", DAY, codec, charge))
                            .as("%s, %s", onFailure, codec)
                            .isInstanceOf(RecordedFailureException.class)
                            .hasMessageContaining("result");
                }
                assertThat(charged).hasValue(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void anActionWhoseResultTheServerRefusesIsNotRunAgain(Database database) {
        String table = "small_outcomes";
        database.execute("DROP TABLE IF EXISTS " + table);
        database.execute(
                database.dialect() == Dialect.POSTGRESQL
                        ? "CREATE TABLE " + table + " (LIKE holdfast_idempotency INCLUDING ALL,"
                                + " CHECK (octet_length(outcome) <= 2000))"
                        : "CREATE TABLE " + table + " LIKE holdfast_idempotency");
        if (database.dialect() == Dialect.MYSQL) {
            database.execute("ALTER TABLE " + table + " MODIFY outcome VARBINARY(2000) NULL");
        }
        JdbcIdempotency idempotency = idempotency(database).withTable(table);
        String key = Database.unique("large");
        AtomicInteger charged = new AtomicInteger();
        Idempotency.Action<String, RuntimeException> charge = lease -> {
            charged.incrementAndGet();
            return "x".repeat(5000);
        };

        assertThatThrownBy(() -> idempotency.run(key, "x", DAY, ResultCodec.strings(), charge))
                .isInstanceOf(UnknownOutcomeException.class);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> idempotency.run(key, "x", DAY, ResultCodec.strings(), charge))
                    .isInstanceOf(RecordedFailureException.class);
        }

        assertThat(charged).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void passesOnWhenAProcessDiesInTheMiddleAndTheDeadCannotRecord(Database database) throws Exception {
        JdbcIdempotency dying = idempotency(database);
        JdbcIdempotency next = idempotency(database);
        String key = Database.unique("crash");
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch wakeUp = new CountDownLatch(1);
        Future<String> dead = fork(() -> dying.run(key, "x", DAY, ResultCodec.strings(), lease -> {
            started.countDown();
            wakeUp.await();
            return "from the dead";
        }));
        untilReached(started);
        // As good as dead: its lease is taken from it, and nobody tells it in time.
        clients.get(1).administration().forceRelease("idempotency/" + key);

        String result = next.run(key, "x", DAY, ResultCodec.strings(), lease -> {
            wakeUp.countDown();
            assertThatThrownBy(() -> get(dead)).isInstanceOf(LeaseLostException.class);
            return "from the living";
        });

        assertThat(result).isEqualTo("from the living");
        assertThat(next.run(key, "x", DAY, ResultCodec.strings(), lease -> "again"))
                .isEqualTo("from the living");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void changesDataExactlyOnceInOneTransaction(Database database) throws Exception {
        JdbcIdempotency idempotency = idempotency(database);
        String key = Database.unique("payment");
        String id = newCounter(database, 10);

        assertThatThrownBy(() ->
                        idempotency.runInTransaction(key, "x", DAY, ResultCodec.strings(), (connection, lease) -> {
                            write(connection, id, 0);
                            throw new IllegalStateException("crash before commit");
                        }))
                .hasMessage("crash before commit");
        for (int i = 0; i < 3; i++) {
            String left = idempotency.runInTransaction(key, "x", DAY, ResultCodec.strings(), (connection, lease) -> {
                int amount = read(connection, id) - 1;
                write(connection, id, amount);
                return "left " + amount;
            });
            assertThat(left).isEqualTo("left 9");
        }

        assertThat(amount(database, id)).isEqualTo(9);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void forgetsAfterItsTime(Database database) throws Exception {
        JdbcIdempotency idempotency = idempotency(database);
        String key = Database.unique("old");
        AtomicInteger runs = new AtomicInteger();
        Duration shortly = Duration.ofMillis(100);

        await().until(() -> {
            idempotency.run(key, "x", shortly, ResultCodec.strings(), lease -> "run " + runs.incrementAndGet());
            return runs.get() == 2;
        });

        await().until(() -> idempotency.prune() >= 1);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void forgetsWhatADeadRunLeftAfterItsTime(Database database) throws Exception {
        JdbcIdempotency idempotency = idempotency(database);
        String key = Database.unique("abandoned");
        assertThatThrownBy(() -> idempotency.run(key, "x", Duration.ofMillis(1), ResultCodec.strings(), lease -> {
                    throw new LeaseLostException(lease.name(), lease.token(), "as good as dead");
                }))
                .isInstanceOf(LeaseLostException.class);
        untilExpired(database, key);

        idempotency.prune();

        assertThat(rows(database, key)).isZero();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void keepsWhatStillRunsHoweverLongItTakes(Database database) throws Exception {
        JdbcIdempotency idempotency = idempotency(database);
        JdbcIdempotency other = idempotency(database);
        String key = Database.unique("long");

        String result = idempotency.run(key, "x", Duration.ofMillis(1), ResultCodec.strings(), lease -> {
            untilExpired(database, key);
            idempotency.prune();
            other.prune();
            return "done at last";
        });

        assertThat(result).isEqualTo("done at last");
        assertThat(rows(database, key)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void recordsOnAnotherConnectionWhenOneBreaks(Database database) throws Exception {
        Queue<String> replies = new ConcurrentLinkedQueue<>();
        JdbcIdempotency idempotency =
                idempotency(database, TroubledDataSource.around(pool(database), new TroubledDataSource.Trouble() {
                    @Override
                    public void before(String sql) throws SQLException {
                        if ("never sent".equals(replies.peek())) {
                            replies.remove();
                            throw TroubledDataSource.connectionLost();
                        }
                    }

                    @Override
                    public void after(String sql) throws SQLException {
                        if ("answer lost".equals(replies.peek())) {
                            replies.remove();
                            throw TroubledDataSource.connectionLost();
                        }
                    }
                }));
        String key = Database.unique("broken");
        AtomicInteger runs = new AtomicInteger();

        for (int i = 0; i < 2; i++) {
            String result = idempotency.run(key, "x", DAY, ResultCodec.strings(), lease -> {
                replies.addAll(List.of("never sent", "answer lost"));
                return "run " + runs.incrementAndGet();
            });
            assertThat(result).isEqualTo("run 1");
        }
        assertThat(replies).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = "POSTGRESQL")
    void saysSoWhenTheServerNeverTakesAResult(Database database) throws Exception {
        AtomicBoolean refusing = new AtomicBoolean();
        JdbcIdempotency idempotency =
                idempotency(database, TroubledDataSource.around(pool(database), new TroubledDataSource.Trouble() {
                    @Override
                    public void before(String sql) throws SQLException {
                        if (refusing.get()) {
                            throw TroubledDataSource.connectionLost();
                        }
                    }
                }));

        assertThatThrownBy(
                        () -> idempotency.run(Database.unique("too large"), "x", DAY, ResultCodec.strings(), lease -> {
                            refusing.set(true);
                            return "huge";
                        }))
                .isInstanceOf(UnknownOutcomeException.class)
                .hasMessageContaining("recording its outcome failed");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void neverRunsWithALeaseLostBeforeItBegan(Database database) throws Exception {
        PauseBeforeClaim pause = new PauseBeforeClaim();
        Idempotency sleeping = neverRenewing(database, TroubledDataSource.around(pool(database), pause));
        Idempotency next = idempotency(database);
        String key = Database.unique("asleep");
        Future<String> late = fork(() -> sleeping.run(key, "x", DAY, ResultCodec.strings(), lease -> {
            throw new AssertionError("ran without a lease");
        }));
        untilReached(pause.reached);
        assertThatThrownBy(() -> next.run(key, "x", DAY, ResultCodec.strings(), lease -> {
                    throw new IllegalStateException("fails and is forgotten");
                }))
                .isInstanceOf(IllegalStateException.class);

        pause.goOn.countDown();

        assertThatThrownBy(() -> get(late)).isInstanceOf(LeaseLostException.class);
        assertThat(rows(database, key)).isZero();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void returnsWhatALateRunRecordedJustBefore(Database database) throws Exception {
        PauseBeforeClaim pause = new PauseBeforeClaim();
        Idempotency late = neverRenewing(database, pool(database));
        Idempotency next = idempotency(database, TroubledDataSource.around(pool(database), pause));
        String key = Database.unique("late");
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        Future<String> first = fork(() -> late.run(key, "x", DAY, ResultCodec.strings(), lease -> {
            started.countDown();
            finish.await();
            return "late, but first";
        }));
        untilReached(started);
        Future<String> second = fork(() -> next.run(key, "x", DAY, ResultCodec.strings(), lease -> {
            throw new AssertionError("ran twice");
        }));
        untilReached(pause.reached);

        finish.countDown();
        assertThat(get(first)).isEqualTo("late, but first");
        pause.goOn.countDown();

        assertThat(get(second)).isEqualTo("late, but first");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void tellsAnotherPayloadApartWhileTheFirstRuns(Database database) throws Exception {
        Idempotency idempotency = idempotency(database);
        String key = Database.unique("conflict");

        String result = idempotency.run(key, "a", DAY, ResultCodec.strings(), lease -> {
            Future<String> other = fork(() -> idempotency.run(key, "b", DAY, ResultCodec.strings(), second -> "b"));
            assertThat(other)
                    .failsWithin(Duration.ofSeconds(20))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(PayloadConflictException.class);
            return "a";
        });

        assertThat(result).isEqualTo("a");
    }
}
