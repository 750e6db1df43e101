package io.holdfast.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.jdbc.dialect.Dialect;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;

/** What tests of the recipes share: pools, a table of counters, threads. */
abstract class RecipeTest {

    private static final Map<Database, HikariDataSource> POOLS = new EnumMap<>(Database.class);

    private final ExecutorService threads = Executors.newCachedThreadPool();

    static HikariDataSource pool(Database database) {
        return POOLS.computeIfAbsent(database, missing -> {
            HikariDataSource pool = missing.pool(20);
            try {
                RecipeSchema.create(pool);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            String id = missing.dialect() == Dialect.MYSQL ? "VARCHAR(100)" : "text";
            missing.execute("CREATE TABLE IF NOT EXISTS counter (id " + id
                    + " PRIMARY KEY, amount INT NOT NULL, version BIGINT NOT NULL)");
            return pool;
        });
    }

    @AfterAll
    static void closePools() {
        POOLS.values().forEach(HikariDataSource::close);
        POOLS.clear();
    }

    @AfterEach
    void stopThreads() {
        threads.shutdownNow();
    }

    static Connection begin(Database database) throws SQLException {
        Connection connection = pool(database).getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    static String newCounter(Database database, int amount) {
        pool(database);
        String id = Database.unique("counter");
        database.execute("INSERT INTO counter (id, amount, version) VALUES ('" + id + "', " + amount + ", 1)");
        return id;
    }

    static int read(Connection connection, String id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT amount FROM counter WHERE id = ?")) {
            statement.setString(1, id);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    static void write(Connection connection, String id, int amount) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("UPDATE counter SET amount = ? WHERE id = ?")) {
            statement.setInt(1, amount);
            statement.setString(2, id);
            statement.executeUpdate();
        }
    }

    static int amount(Database database, String id) throws SQLException {
        try (Connection connection = pool(database).getConnection()) {
            return read(connection, id);
        }
    }

    <T> Future<T> fork(Callable<T> work) {
        return threads.submit(work);
    }

    /** Runs the same in several threads and returns when all are done. */
    void inThreads(int number, Callable<?> work) throws Exception {
        List<? extends Future<?>> all =
                IntStream.range(0, number).mapToObj(i -> fork(work)).toList();
        for (Future<?> one : all) {
            get(one);
        }
    }

    static <T> T get(Future<T> future) throws Exception {
        try {
            return future.get(5, TimeUnit.MINUTES);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }
}
