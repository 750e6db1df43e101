package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockView.Holder;
import io.holdfast.jdbc.HeldTicket.Told;
import io.holdfast.jdbc.TroubledDataSource.Trouble;
import io.holdfast.jdbc.WatchedConnections.Watcher;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A forced release")
class ForcedReleaseTest {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final int READERS = 5;

    private final List<OpenStore> opened = new ArrayList<>();

    @AfterEach
    void closeAll() {
        opened.forEach(OpenStore::close);
    }

    private OpenStore client(Database database) {
        OpenStore client = new OpenStore(database.storeUrl());
        opened.add(client);
        return client;
    }

    /** An administrator's client; its tables are checked already. */
    private OpenStore administrator(DataSource dataSource) {
        OpenStore client = new OpenStore(JdbcStores.using(dataSource).withSchemaCreated());
        opened.add(client);
        client.store.ping(OpenStore.soon());
        return client;
    }

    private static List<HeldTicket> readers(OpenStore client, String name) {
        return Stream.generate(() -> client.hold(name, Demand.shared()))
                .limit(READERS)
                .toList();
    }

    private static SQLException deadlock() {
        return new SQLException("a deadlock", "40001");
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("P3 hits nobody who took the lock before the server undid one of its steps")
    void hitsNobodyWhoTookItBeforeAStepWasUndone(Database database) {
        String name = Database.unique("taken-meanwhile");
        OpenStore client = client(database);
        List<HeldTicket> readers = readers(client, name);
        AtomicReference<HeldTicket> writer = new AtomicReference<>();
        DataSource plain = WatchedConnections.of(database::connect, new Watcher() {});
        OpenStore administrator = administrator(TroubledDataSource.around(plain, new Trouble() {
            @Override
            public void before(String sql) throws SQLException {
                if (sql.startsWith("UPDATE holdfast_lock l SET token = GREATEST") && writer.get() == null) {
                    writer.set(client.hold(name));
                    throw deadlock();
                }
            }
        }));

        int lost = administrator.store.forceRelease(name, OpenStore.soon());

        assertThat(client.renew(writer.get(), LONG)).isEqualTo(Told.KEPT);
        assertThat(lost).isEqualTo(READERS);
        assertThat(readers).allMatch(reader -> client.renew(reader, LONG) == Told.GONE);
        assertThat(client.store.view(name, OpenStore.soon()).holders())
                .extracting(Holder::token)
                .as("the token of whoever has it is its own")
                .containsExactly(Optional.of(writer.get().token()));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("P3 hits nobody who joined after it had seen who is there")
    void hitsNobodyWhoJoinedAfterItsFirstStatement(Database database) {
        String name = Database.unique("joined-meanwhile");
        OpenStore client = client(database);
        List<HeldTicket> readers = readers(client, name);
        AtomicBoolean first = new AtomicBoolean();
        AtomicReference<HeldTicket> late = new AtomicReference<>();
        OpenStore administrator = administrator(WatchedConnections.of(database::connect, new Watcher() {
            @Override
            public void after(Connection connection) {
                if (first.compareAndSet(true, false)) {
                    late.set(client.hold(name, Demand.shared()));
                }
            }
        }));
        first.set(true);

        int lost = administrator.store.forceRelease(name, OpenStore.soon());

        assertThat(client.renew(late.get(), LONG)).isEqualTo(Told.KEPT);
        assertThat(lost).isEqualTo(READERS);
        assertThat(readers).allMatch(reader -> client.renew(reader, LONG) == Told.GONE);
        assertThat(client.take(name)).as("there still is a reader").isEmpty();
        client.release(late.get());
        assertThat(client.take(name)).isPresent();
    }

    @ParameterizedTest
    @EnumSource
    void hitsAWriterThatGoesOnAsAReaderAfterItsFirstStatement(Database database) {
        String name = Database.unique("downgraded-meanwhile");
        OpenStore client = client(database);
        HeldTicket writer = client.hold(name);
        AtomicBoolean first = new AtomicBoolean();
        OpenStore administrator = administrator(WatchedConnections.of(database::connect, new Watcher() {
            @Override
            public void after(Connection connection) {
                if (first.compareAndSet(true, false)) {
                    client.store.downgrade(writer.ticket, OpenStore.soon());
                }
            }
        }));
        first.set(true);

        int lost = administrator.store.forceRelease(name, OpenStore.soon());

        assertThat(writer.ticket.demand()).isEqualTo(Demand.shared());
        assertThat(lost).isEqualTo(1);
        assertThat(client.renew(writer, LONG)).isEqualTo(Told.GONE);
        assertThat(client.take(name)).isPresent();
    }

    @ParameterizedTest
    @EnumSource
    void countsAllWhicheverOfItsStatementsTheServerUndoes(Database database) {
        OpenStore client = client(database);
        AtomicInteger left = new AtomicInteger();
        OpenStore administrator = administrator(WatchedConnections.of(database::connect, new Watcher() {
            @Override
            public void before(Connection connection) throws SQLException {
                if (left.decrementAndGet() == 0) {
                    throw deadlock();
                }
            }
        }));
        for (int statement = 1, ran = Integer.MAX_VALUE; statement <= ran; statement++) {
            String name = Database.unique("undone");
            readers(client, name);
            left.set(statement);

            assertThat(administrator.store.forceRelease(name, OpenStore.soon()))
                    .as("statement %d was undone", statement)
                    .isEqualTo(READERS);
            ran = statement - left.get();
            assertThat(client.take(name)).isPresent();
        }
    }
}
