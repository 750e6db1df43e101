package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A fence")
class FenceTest extends RecipeTest {

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void letsGrowingTokensThroughAndRefusesOlderOnes(Database database) throws Exception {
        String resource = Database.unique("fence");
        check(database, resource, 10);
        check(database, resource, 10);
        check(database, resource, 12);

        assertThatThrownBy(() -> check(database, resource, 11))
                .isInstanceOfSatisfying(Fence.StaleTokenException.class, stale -> {
                    assertThat(stale.token()).isEqualTo(11);
                    assertThat(stale.newest()).isEqualTo(12);
                });
        check(database, resource, 12);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void aNewHoldersReadShutsTheOldOneOut(Database database) throws Exception {
        String resource = Database.unique("read");
        String id = newCounter(database, 5);
        try (Connection newer = begin(database)) {
            Fence.check(newer, resource, 2);
            int seen = read(newer, id);

            Future<Boolean> older = fork(() -> {
                try (Connection old = begin(database)) {
                    Fence.check(old, resource, 1);
                    write(old, id, 100);
                    old.commit();
                    return true;
                }
            });
            assertThatThrownBy(() -> older.get(200, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            write(newer, id, seen - 1);
            newer.commit();

            assertThatThrownBy(() -> get(older)).isInstanceOf(Fence.StaleTokenException.class);
        }
        assertThat(amount(database, id)).isEqualTo(4);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void forgetsATokenThatWasRolledBack(Database database) throws Exception {
        String resource = Database.unique("rollback");
        try (Connection connection = begin(database)) {
            Fence.check(connection, resource, 9);
            connection.rollback();
        }

        check(database, resource, 8);
    }

    @ParameterizedTest
    @EnumSource(names = "POSTGRESQL")
    void neverShowsAnOldSnapshotAfterWaiting(Database database) throws Exception {
        String resource = Database.unique("snapshot");
        try (Connection holder = begin(database);
                Connection other = begin(database)) {
            other.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            Fence.check(holder, resource, 1);
            Future<Void> waiting = fork(() -> {
                Fence.check(other, resource, 2);
                return null;
            });
            RecipeWaits.untilBlocked(database);
            holder.commit();

            assertThatThrownBy(() -> get(waiting))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
            other.rollback();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void needsATransaction(Database database) throws Exception {
        try (Connection connection = pool(database).getConnection()) {
            assertThatThrownBy(() -> Fence.check(connection, "r", 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("setAutoCommit(false)");
        }
    }

    private static void check(Database database, String resource, long token) throws Exception {
        try (Connection connection = begin(database)) {
            Fence.check(connection, resource, token);
            connection.commit();
        }
    }
}
