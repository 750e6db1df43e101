package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.jdbc.HeldTicket.Told;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An administrator locks one row, and goes to lunch. */
@DisplayName("A row that another has locked")
class RowLockedByAnotherTest {

    /** Renewed often enough, and not over as soon as this machine halts for a moment. */
    private static final Duration TTL = Duration.ofSeconds(6);

    private static final int LEASES = 20;

    private final List<Lease> held = new ArrayList<>();
    private final Queue<String> lost = new ConcurrentLinkedQueue<>();

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    @DisplayName("P9 costs no other lock its lease")
    void costsNoOtherLockItsLease(Database database) throws Exception {
        String prefix = Database.unique("locked");
        LockOptions options = LockOptions.defaults().withTtl(TTL);
        try (Holdfast client = Holdfast.connect(database.storeUrl());
                Connection administrator = database.connect()) {
            List<Lease> unrelated = new ArrayList<>();
            // The middle ones of each kind, in whatever order they are renewed.
            String alone = prefix + "-alone-" + LEASES / 2;
            String shared = prefix + "-shared-" + LEASES / 2;
            for (int i = 0; i < LEASES; i++) {
                keep(client.lock(prefix + "-alone-" + i, options).acquire(), alone, unrelated);
                keep(
                        client.readWriteLock(prefix + "-shared-" + i, options)
                                .readLock()
                                .acquire(),
                        shared,
                        unrelated);
            }

            administrator.setAutoCommit(false);
            lock(administrator, "SELECT 1 FROM holdfast_lock WHERE name = '" + alone + "' FOR UPDATE");
            lock(administrator, "SELECT 1 FROM holdfast_lock_ticket WHERE name = '" + shared + "' FOR UPDATE");

            RenewalCounts.untilAllAreRenewed(database, unrelated, 2);
            assertThat(lost).isEmpty();
            assertThat(unrelated).allMatch(Lease::isValid);
            assertThat(
                            database.number(
                                    database.dialect() == Dialect.POSTGRESQL
                                            ? "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                                            : "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"))
                    .as("statements that wait for a row at the server, of one client with five connections")
                    .isLessThanOrEqualTo(5);
            administrator.rollback();
        }
    }

    /** Renewals of leases come first, and find the table locked: what is kept in the other one has time of its own. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    @DisplayName(
            "P9 a table that is locked costs those who are kept in the other one neither their share nor their place")
    void leavesTimeForThoseBehind(Database database) throws Exception {
        String url = Database.withParameter(database.storeUrl(), "table=locked_table");
        try (OpenStore client = new OpenStore(url);
                Connection administrator = database.connect();
                Statement statement = administrator.createStatement()) {
            HeldTicket alone = client.hold(Database.unique("alone"));
            HeldTicket shared = client.hold(Database.unique("shared"), Demand.shared());
            HeldTicket queued = client.enqueue(alone.ticket.name(), Demand.exclusive(), TTL);
            if (database.dialect() == Dialect.POSTGRESQL) {
                administrator.setAutoCommit(false);
                statement.execute("LOCK TABLE locked_table IN ACCESS EXCLUSIVE MODE");
            } else {
                statement.execute("LOCK TABLES locked_table WRITE");
            }

            client.store.renew(
                    List.of(alone.ticket, shared.ticket, queued.ticket),
                    Deadline.after(TimeSource.system(), Duration.ofSeconds(4)));

            assertThat(alone.told()).isEqualTo(Told.FAILING);
            assertThat(shared.told()).isEqualTo(Told.KEPT);
            assertThat(queued.told()).isEqualTo(Told.KEPT);
        }
    }

    /** Listens to what becomes of it, unless it is the one that cannot be renewed. */
    private void keep(Lease lease, String locked, List<Lease> unrelated) {
        held.add(lease);
        if (!lease.name().equals(locked)) {
            unrelated.add(lease);
            lease.onLost(loss -> lost.add(lease.name() + ": " + loss.detail()));
        }
    }

    private static void lock(Connection connection, String select) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(select)) {
            assertThat(rows.next()).as(select).isTrue();
        }
    }
}
