package io.holdfast.jdbc;

import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.tck.Faults;
import io.holdfast.tck.StoreUnderTest;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** A database as the kit sees it, through a proxy that can fail. */
final class ProxiedDatabase implements StoreUnderTest, AutoCloseable {

    private final Database database;
    private final TcpProxy proxy;

    ProxiedDatabase(Database database) {
        this.database = database;
        this.proxy = TcpProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), database.port()));
    }

    @Override
    public void close() {
        proxy.close();
    }

    @Override
    public StoreFactory store() {
        return new JdbcStores()
                .store(StoreUri.parse(
                        Database.withParameter(database.url(proxy.port()), "createSchema=true&connections=3")));
    }

    /** A database may take long to write to its disk, and an answer that takes a ttl is none. */
    @Override
    public Duration shortTtl() {
        return Duration.ofMillis(600);
    }

    @Override
    public Optional<Faults> faults() {
        return Optional.of(new Faults() {
            @Override
            public void delayReplies(Duration delay) {
                proxy.delay(Direction.TO_CLIENT, delay);
            }

            @Override
            public void cut() {
                proxy.cut();
            }

            @Override
            public void heal() {
                proxy.heal();
            }
        });
    }

    @Override
    public boolean pushesGrants() {
        return false;
    }

    @Override
    public OptionalLong requestsReceived() {
        return database.dialect() == Dialect.MYSQL
                ? OptionalLong.of(
                        database.number(
                                "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Questions'"))
                : OptionalLong.empty();
    }

    @Override
    public Optional<List<String>> leftovers(String name) {
        List<String> found = new ArrayList<>();
        try (Connection connection = database.connect()) {
            read(connection, "SELECT owner FROM holdfast_lock_ticket WHERE name = ?", name, found);
            // The row is the counter, with the last owner in it; it is held only until its time.
            String held =
                    "SELECT owner FROM holdfast_lock WHERE owner IS NOT NULL AND name = ? AND taken > 0 AND expires_at > "
                            + database.dialect().now();
            read(connection, held, name, found);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return Optional.of(found);
    }

    private void read(Connection connection, String query, String name, List<String> found) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            Object bindable = database.dialect().bindable(name);
            if (bindable instanceof byte[] bytes) {
                statement.setBytes(1, bytes);
            } else {
                statement.setString(1, name);
            }
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    found.add(rows.getString(1));
                }
            }
        }
    }
}
