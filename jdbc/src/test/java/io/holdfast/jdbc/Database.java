package io.holdfast.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.servers.MariaDbServer;
import io.holdfast.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/** A server and the driver it is reached with. Servers are started once for all tests and die with the JVM. */
enum Database {
    MARIADB {
        @Override
        String url() {
            return MariaDb.SERVER.jdbcUrl();
        }

        @Override
        String url(int port) {
            return MariaDb.SERVER.jdbcUrl(port);
        }

        @Override
        int port() {
            return MariaDb.SERVER.port();
        }
    },
    MARIADB_WITH_MYSQL_DRIVER {
        @Override
        String url() {
            return url(port());
        }

        @Override
        String url(int port) {
            return "jdbc:mysql://127.0.0.1:" + port + "/holdfast?user=root&sslMode=DISABLED";
        }

        @Override
        int port() {
            return MariaDb.SERVER.port();
        }
    },
    POSTGRESQL {
        @Override
        String url() {
            return Postgres.SERVER.jdbcUrl();
        }

        @Override
        String url(int port) {
            return Postgres.SERVER.jdbcUrl(port);
        }

        @Override
        int port() {
            return Postgres.SERVER.port();
        }
    };

    private static final class MariaDb {
        static final MariaDbServer SERVER = MariaDbServer.start();
    }

    private static final class Postgres {
        static final PostgresServer SERVER = PostgresServer.start();
    }

    /** What its driver wants. */
    abstract String url();

    /** The same through another port, such as a proxy's. */
    abstract String url(int port);

    abstract int port();

    Dialect dialect() {
        return this == POSTGRESQL ? Dialect.POSTGRESQL : Dialect.MYSQL;
    }

    /** A store's URL, with the tables made when needed. */
    String storeUrl() {
        return url() + "&createSchema=true";
    }

    Connection connect() throws SQLException {
        return DriverManager.getConnection(url());
    }

    /** A pool whose connections have any settings the test likes. */
    HikariDataSource pool(int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url());
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(20_000);
        return new HikariDataSource(config);
    }

    void execute(String sql) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    long number(String query) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
    }

    /** A name no other test uses. */
    static String unique(String what) {
        return what + "-" + UUID.randomUUID();
    }
}
