package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A transaction lock")
class TransactionLockTest extends RecipeTest {

    @ParameterizedTest
    @EnumSource
    void countsRightWithManyThreadsFromTheFirstUseOfItsName(Database database) throws Exception {
        TransactionLock locks = TransactionLock.using(pool(database));
        for (int isolation : List.of(Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ)) {
            if (database.dialect() == Dialect.POSTGRESQL && isolation != Connection.TRANSACTION_READ_COMMITTED) {
                continue; // There a waiting transaction fails with 40001 and has to start over: its own test below.
            }
            String id = newCounter(database, 0);
            inThreads(8, () -> {
                for (int i = 0; i < 25; i++) {
                    try (Connection connection = begin(database)) {
                        connection.rollback();
                        connection.setTransactionIsolation(isolation);
                        locks.lock(connection, "lock/" + id);
                        write(connection, id, read(connection, id) + 1);
                        connection.commit();
                    }
                }
                return null;
            });

            assertThat(amount(database, id)).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @EnumSource
    void endsWithTheTransaction(Database database) throws Exception {
        TransactionLock locks = TransactionLock.using(pool(database));
        String name = Database.unique("end");
        try (Connection first = begin(database);
                Connection second = begin(database)) {
            locks.lock(first, name);
            Future<Boolean> waiting = fork(() -> locks.tryLock(second, name, Duration.ofSeconds(30)));
            first.rollback();

            assertThat(get(waiting)).isTrue();
            second.commit();
            assertThat(locks.tryLock(first, name, Duration.ofSeconds(1))).isTrue();
            first.commit();
        }
    }

    @ParameterizedTest
    @EnumSource
    void givesUpInTimeAndLeavesTheTransactionUsable(Database database) throws Exception {
        TransactionLock locks = TransactionLock.using(pool(database));
        String name = Database.unique("limit");
        String id = newCounter(database, 1);
        try (Connection holder = begin(database);
                Connection other = begin(database)) {
            locks.lock(holder, name);
            write(other, id, 7);

            assertThat(locks.tryLock(other, name, Duration.ofMillis(300))).isFalse();
            other.commit();

            assertThat(amount(database, id)).isEqualTo(7);
            holder.commit();
        }
    }

    @ParameterizedTest
    @EnumSource
    void restoresTheWaitLimitOfTheSession(Database database) throws Exception {
        TransactionLock locks = TransactionLock.using(pool(database));
        try (Connection connection = begin(database)) {
            String query = database.dialect() == Dialect.MYSQL
                    ? "SELECT @@SESSION.innodb_lock_wait_timeout"
                    : "SELECT current_setting('lock_timeout')";
            String before = text(connection, query);

            assertThat(locks.tryLock(connection, Database.unique("setting"), Duration.ofSeconds(7)))
                    .isTrue();

            assertThat(text(connection, query)).isEqualTo(before);
            connection.rollback();
        }
    }

    @ParameterizedTest
    @EnumSource
    void needsATransaction(Database database) throws Exception {
        TransactionLock locks = TransactionLock.using(pool(database));
        try (Connection connection = pool(database).getConnection()) {
            assertThatThrownBy(() -> locks.lock(connection, "x")).isInstanceOf(IllegalStateException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(names = "POSTGRESQL")
    void neverShowsAnOldSnapshotAfterWaiting(Database database) throws Exception {
        TransactionLock locks = TransactionLock.using(pool(database));
        String name = Database.unique("snapshot");
        try (Connection holder = begin(database);
                Connection other = begin(database)) {
            other.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            locks.lock(holder, name);
            Future<Boolean> waiting = fork(() -> {
                locks.lock(other, name);
                return true;
            });
            RecipeWaits.untilBlocked(database);
            holder.commit();

            assertThatThrownBy(() -> get(waiting))
                    .satisfies(e -> assertThat(((java.sql.SQLException) e).getSQLState())
                            .isEqualTo("40001"));
            other.rollback();
            other.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
    }

    private static String text(Connection connection, String query) throws Exception {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }
}
