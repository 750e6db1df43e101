package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.StoreUnavailableException;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.TableName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The tables")
class SchemaTest {

    private static String newTable() {
        return "t" + UUID.randomUUID().toString().replace("-", "").substring(0, 12);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void areAskedForWithTheirDdlWhenMissing(Database database) {
        String table = newTable();
        try (OpenStore client = new OpenStore(database.url() + "&table=" + table)) {
            assertThatThrownBy(() -> client.take("x"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("There is no table '" + table + "'")
                    .hasMessageContaining("CREATE TABLE IF NOT EXISTS " + table + " (")
                    .hasMessageContaining("createSchema=true");
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void areFoundOnceTheyAreThere(Database database) {
        String table = newTable();
        try (OpenStore early = new OpenStore(database.url() + "&table=" + table);
                OpenStore creating = new OpenStore(database.storeUrl() + "&table=" + table)) {
            assertThatThrownBy(() -> early.take("x")).isInstanceOf(StoreUnavailableException.class);

            creating.hold("x");

            assertThat(early.take("x")).isEmpty();
            assertThat(early.take("y")).isPresent();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void areRefusedIfAColumnIsMissing(Database database) {
        String table = newTable();
        try (OpenStore creating = new OpenStore(database.storeUrl() + "&table=" + table)) {
            creating.hold("x");
        }
        database.execute("ALTER TABLE " + table + " DROP COLUMN taken");

        try (OpenStore client = new OpenStore(database.storeUrl() + "&table=" + table)) {
            assertThatThrownBy(() -> client.take("y"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("no column 'taken'");
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void areRefusedIfTheyDoNotTellNamesApart(Database database) {
        String table = newTable();
        try (OpenStore creating = new OpenStore(database.storeUrl() + "&table=" + table)) {
            creating.hold("x");
        }
        database.execute(
                database.dialect() == Dialect.MYSQL
                        ? "ALTER TABLE " + table + " MODIFY name VARCHAR(200) NOT NULL"
                        : "ALTER TABLE " + table + " ALTER name TYPE varchar(200) COLLATE \"und-x-icu\"");

        try (OpenStore client = new OpenStore(database.storeUrl() + "&table=" + table)) {
            assertThatThrownBy(() -> client.take("y"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("does not compare bytes");
        }
    }

    @ParameterizedTest
    @CsvSource({"'', (name)", "_ticket, '(owner)'"})
    void areRefusedIfARowCanBeThereTwice(String suffix, String key) {
        for (Database database : EnumSet.complementOf(EnumSet.of(Database.H2))) {
            String table = newTable();
            try (OpenStore creating = new OpenStore(database.storeUrl() + "&table=" + table)) {
                creating.hold("x");
            }
            database.execute("ALTER TABLE " + table + suffix + " DROP "
                    + (database.dialect() == Dialect.MYSQL
                            ? "PRIMARY KEY, ADD PRIMARY KEY (owner, token)"
                            : "CONSTRAINT " + table + suffix + "_pkey"));

            try (OpenStore client = new OpenStore(database.storeUrl() + "&table=" + table)) {
                assertThatThrownBy(() -> client.take("y"))
                        .as(database.name())
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("Table '" + table + suffix + "' has no primary key " + key)
                        .hasMessageContaining("CREATE TABLE IF NOT EXISTS " + table + " (");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void areSeenByAUserWhoMayOnlyChangeTheirRows(Database database) {
        String table = newTable();
        try (OpenStore creating = new OpenStore(database.storeUrl() + "&table=" + table)) {
            creating.hold("x");
        }
        String user = "user_" + table;
        String account = database.dialect() == Dialect.MYSQL ? user + "@'%'" : user;
        database.execute("CREATE USER " + account);
        for (String each : List.of(table, table + "_ticket")) {
            database.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON " + each + " TO " + account);
        }

        String url = database.url().replaceFirst("user=\\w+", "user=" + user);
        try (OpenStore client = new OpenStore(url + "&table=" + table)) {
            assertThat(client.take("x")).isEmpty();
            assertThat(client.take("y")).isPresent();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void canBeCreatedByManyAtOnceAndInAnotherSchema(Database database) throws Exception {
        String schema = newTable();
        database.execute("CREATE SCHEMA " + schema);
        String url = database.storeUrl() + "&table=" + schema + "." + newTable();
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Future<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            all.add(threads.submit(() -> {
                try (OpenStore client = new OpenStore(url)) {
                    return client.take("x").isPresent();
                }
            }));
        }

        int taken = 0;
        for (Future<Boolean> one : all) {
            taken += one.get(60, TimeUnit.SECONDS) ? 1 : 0;
        }
        assertThat(taken).isEqualTo(1);
        threads.shutdown();
    }

    /** A plan that reads all of a table is made when it has no pages, and used when it has thousands that were never cleared. */
    @Test
    @DisplayName("P9 tickets of one lock are found by the index also after a vacuum of PostgreSQL")
    void doNotBecomeSoSmallThatAllOfThemAreRead() throws SQLException {
        String table = newTable();
        try (OpenStore creating = new OpenStore(Database.POSTGRESQL.storeUrl() + "&table=" + table)) {
            creating.hold("x");
        }
        Database.POSTGRESQL.execute("INSERT INTO " + table + "_ticket (owner, name, state, kind, permits, total, token,"
                + " since, ttl, expires_at, renewals)"
                + " SELECT 'o' || n, 'x', 'waiting', 'exclusive', 1, 1, 0, 0, 0, 0, 0 FROM generate_series(1, 5000) n");
        Database.POSTGRESQL.execute("DELETE FROM " + table + "_ticket");

        Database.POSTGRESQL.execute("VACUUM ANALYZE " + table + "_ticket");

        try (Connection connection = Database.POSTGRESQL.connect();
                Statement statement = connection.createStatement();
                ResultSet plan = statement.executeQuery(
                        "EXPLAIN SELECT 1 FROM " + table + "_ticket WHERE name = 'y' AND state = 'waiting'")) {
            plan.next();
            assertThat(plan.getString(1)).contains(table + "_ticket_queue");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1st", "a b", "a;b", "a.b.c", "a\"b", "lock--", "l'"})
    void haveHarmlessNames(String name) {
        assertThatThrownBy(() -> new TableName(name)).isInstanceOf(IllegalArgumentException.class);
    }
}
