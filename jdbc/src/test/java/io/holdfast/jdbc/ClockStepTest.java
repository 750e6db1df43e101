package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.jdbc.HeldTicket.Told;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.row.LockSql;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The server's clock is set back in the middle of a request. */
@DisplayName("A clock that steps back")
class ClockStepTest {

    /** How far the clock goes wrong before it is set right. */
    private static final Duration AHEAD = Duration.ofSeconds(30);

    private static final Duration TTL = Duration.ofSeconds(2);
    private static final Duration RENEWED_FOR = Duration.ofSeconds(20);

    /** No renewal has more statements. */
    private static final int STATEMENTS = 6;

    private static final String POSTGRESQL_CLOCK = """
            CREATE SCHEMA IF NOT EXISTS wrong;
            CREATE OR REPLACE FUNCTION wrong.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
                $$ SELECT pg_catalog.clock_timestamp() + CAST(current_setting('wrong.ahead', true) AS interval) $$""";

    /** The clock of one connection, as its statements see it. */
    private static void move(Database database, Connection connection, Duration ahead) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            if (database.dialect() == Dialect.POSTGRESQL) {
                statement.execute("SELECT set_config('wrong.ahead', '" + ahead.toSeconds() + " s', false),"
                        + " set_config('search_path', '" + (ahead.isZero() ? "" : "wrong,")
                        + "public,pg_catalog', false)");
            } else if (ahead.isZero()) {
                statement.execute("SET timestamp = DEFAULT");
            } else {
                statement.execute("SET timestamp = UNIX_TIMESTAMP(SYSDATE(6)) + " + ahead.toSeconds());
            }
        }
    }

    /** Ahead during the first statements of a renewal, right from then on. Used by one thread. */
    private static final class StepBack implements WatchedConnections.Watcher {

        private final Database database;
        private int statementsLeft;
        private Optional<Connection> wrong = Optional.empty();

        StepBack(Database database) {
            this.database = database;
        }

        void during(int statements, Runnable renewal) throws SQLException {
            statementsLeft = statements;
            try {
                renewal.run();
            } finally {
                statementsLeft = 0;
                setRight();
            }
        }

        @Override
        public void before(Connection connection) throws SQLException {
            if (statementsLeft > 0 && wrong.isEmpty()) {
                wrong = Optional.of(connection);
                move(database, connection, AHEAD);
            }
        }

        @Override
        public void after(Connection connection) throws SQLException {
            if (wrong.isPresent() && --statementsLeft == 0) {
                setRight();
            }
        }

        private void setRight() throws SQLException {
            if (wrong.isPresent() && !wrong.get().isClosed()) {
                move(database, wrong.get(), Duration.ZERO);
            }
            wrong = Optional.empty();
        }
    }

    private record Renewed(HeldTicket held, String how) {

        /** As its holder sees it: until a little before its time is over. */
        boolean isValid() {
            return held.told() == Told.KEPT
                    && System.nanoTime() - held.ticket.baseNanos()
                            < held.ticket.givenTtl().minusMillis(100).toNanos();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    @DisplayName("P1 during a renewal lets nobody believe in a lease that others may take")
    void letsNobodyBelieveInALeaseThatOthersMayTake(Database database) throws Exception {
        if (database.dialect() == Dialect.POSTGRESQL) {
            database.execute(POSTGRESQL_CLOCK);
        }
        StepBack stepBack = new StepBack(database);
        try (OpenStore client = new OpenStore(JdbcStores.using(WatchedConnections.of(database::connect, stepBack))
                        .withSchemaCreated());
                OpenStore other = new OpenStore(database.storeUrl())) {
            client.hold(Database.unique("connected"));
            List<Renewed> all = new ArrayList<>();
            for (Demand demand : List.of(Demand.exclusive(), Demand.shared(), Demand.permits(1, 1))) {
                for (int statements = 1; statements <= STATEMENTS; statements++) {
                    HeldTicket expiring = held(client, database, "expiring", demand, TTL);
                    HeldTicket lasting = held(client, database, "lasting", demand, AHEAD.multipliedBy(10));
                    stepBack.during(
                            statements,
                            () -> client.store.renew(List.of(expiring.ticket, lasting.ticket), OpenStore.soon()));
                    all.add(new Renewed(expiring, demand + ", back after statement " + statements));
                    assertThat(lasting.told()).isEqualTo(Told.KEPT);
                }
            }

            // A lease that was not really renewed has ended by then.
            Deadline judged = Deadline.after(TimeSource.system(), TTL.plusMillis(500));
            while (!judged.hasPassed()) {
                for (Renewed renewed : all) {
                    boolean taken = other.take(renewed.held().ticket.name()).isPresent();
                    assertThat(taken && renewed.isValid())
                            .as("taken by another while its holder counts on it: %s", renewed.how())
                            .isFalse();
                }
                TimeUnit.MILLISECONDS.sleep(20); // The pace at which others try.
            }
        }
    }

    /** Held, to be renewed for a while, and over after that time unless it is. */
    private static HeldTicket held(
            OpenStore client, Database database, String name, Demand demand, Duration overAfter) {
        HeldTicket held =
                client.take(Database.unique(name), demand, RENEWED_FOR).orElseThrow();
        for (String table : List.of("holdfast_lock", "holdfast_lock_ticket")) {
            database.execute("UPDATE " + table + " SET expires_at = "
                    + database.dialect().now() + " + " + LockSql.micros(overAfter) + " WHERE name = '"
                    + held.ticket.name() + "' AND owner IS NOT NULL");
        }
        return held;
    }
}
