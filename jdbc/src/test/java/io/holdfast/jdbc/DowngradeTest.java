package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.jdbc.HeldTicket.Told;
import io.holdfast.jdbc.TroubledDataSource.Trouble;
import io.holdfast.jdbc.WatchedConnections.Watcher;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A downgrade")
class DowngradeTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    /** The server gives up waiting for a row after a second. */
    private static final Duration SHORTER_THAN_AT_THE_SERVER = Duration.ofMillis(300);

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void canBeTriedAgainAfterItsRowWasLocked(Database database) throws Exception {
        String name = Database.unique("again");
        try (OpenStore client = new OpenStore(database.storeUrl())) {
            HeldTicket writer = client.hold(name);
            try (Connection administrator = lockRow(database, name)) {
                assertNotDoneInTime(client, writer);
                await().until(() -> statementsThatWait(database) == 0);
                administrator.rollback();
            }

            client.store.downgrade(writer.ticket, OpenStore.soon());

            assertGoesOnAsReader(client, writer);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void canBeTriedAgainWhileAnEarlierTryIsUnderWayAtTheServer(Database database) throws Exception {
        String name = Database.unique("under-way");
        try (OpenStore client = new OpenStore(database.storeUrl())) {
            HeldTicket writer = client.hold(name);
            try (Connection administrator = lockRow(database, name)) {
                assertNotDoneInTime(client, writer);
                administrator.rollback();
            }

            client.store.downgrade(writer.ticket, OpenStore.soon());

            assertGoesOnAsReader(client, writer);
        }
    }

    /** The earlier one comes to the server between the last two statements of the later one, and finds that one's ticket. */
    @ParameterizedTest
    @EnumSource
    @DisplayName("P5 a downgrade that an earlier try has done already does not cost the lease")
    void doesNotCostTheLeaseIfAnEarlierTryHasDoneIt(Database database) {
        String name = Database.unique("overtaken");
        AtomicBoolean armed = new AtomicBoolean();
        DataSource plain = WatchedConnections.of(database::connect, new Watcher() {});
        try (OpenStore other = new OpenStore(database.storeUrl())) {
            HeldTicket writer = other.hold(name);
            Ticket earlier = writer.ticket.forNode(new Ticket.Listener() {});
            earlier.granted(writer.token(), LONG, System.nanoTime());
            DataSource overtaken = TroubledDataSource.around(plain, new Trouble() {
                @Override
                public void after(String sql) {
                    if (sql.startsWith("INSERT INTO holdfast_lock_ticket") && armed.compareAndSet(true, false)) {
                        other.store.downgrade(earlier, OpenStore.soon());
                    }
                }
            });
            try (OpenStore client = new OpenStore(JdbcStores.using(overtaken).withSchemaCreated())) {
                armed.set(true);

                client.store.downgrade(writer.ticket, OpenStore.soon());

                assertThat(armed).isFalse();
                assertGoesOnAsReader(client, writer);
            }
        }
    }

    private static Connection lockRow(Database database, String name) throws SQLException {
        Connection administrator = database.connect();
        administrator.setAutoCommit(false);
        try (Statement statement = administrator.createStatement()) {
            statement.execute("SELECT 1 FROM holdfast_lock WHERE name = '" + name + "' FOR UPDATE");
        }
        return administrator;
    }

    private static void assertNotDoneInTime(OpenStore client, HeldTicket writer) {
        Deadline tooSoon = Deadline.after(TimeSource.system(), SHORTER_THAN_AT_THE_SERVER);
        assertThatThrownBy(() -> client.store.downgrade(writer.ticket, tooSoon)).isInstanceOf(LockException.class);
        assertThat(writer.ticket.demand()).isEqualTo(Demand.exclusive());
    }

    private static void assertGoesOnAsReader(OpenStore client, HeldTicket writer) {
        assertThat(writer.told()).isNotEqualTo(Told.GONE);
        assertThat(writer.ticket.demand()).isEqualTo(Demand.shared());
        assertThat(client.renew(writer, LONG)).isEqualTo(Told.KEPT);
        assertThat(client.take(writer.ticket.name(), Demand.shared())).isPresent();
        assertThat(client.take(writer.ticket.name())).isEmpty();
    }

    private static long statementsThatWait(Database database) {
        return database.number(
                database.dialect() == Dialect.POSTGRESQL
                        ? "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                        : "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'");
    }
}
