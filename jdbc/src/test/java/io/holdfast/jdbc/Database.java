package io.holdfast.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.servers.MariaDbServer;
import io.holdfast.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import org.h2.tools.Server;

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
    },
    /** In this JVM; through a port by its server mode. */
    H2 {
        @Override
        String url() {
            return "jdbc:h2:mem:holdfast;DB_CLOSE_DELAY=-1";
        }

        @Override
        String url(int port) {
            return "jdbc:h2:tcp://127.0.0.1:" + port + "/mem:holdfast;DB_CLOSE_DELAY=-1";
        }

        @Override
        int port() {
            return H2Server.SERVER.getPort();
        }
    };

    private static final class H2Server {
        static final Server SERVER = start();

        private static Server start() {
            try {
                return Server.createTcpServer("-tcpPort", "0", "-tcpDaemon", "-ifNotExists")
                        .start();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }

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
        return switch (this) {
            case MARIADB, MARIADB_WITH_MYSQL_DRIVER -> Dialect.MYSQL;
            case POSTGRESQL -> Dialect.POSTGRESQL;
            case H2 -> Dialect.H2;
        };
    }

    /** Its clock, as the tables have it. */
    String micros() {
        return dialect().now();
    }

    /** A store's URL, with the tables made when needed. */
    String storeUrl() {
        return withParameter(url(), "createSchema=true");
    }

    static String withParameter(String url, String parameter) {
        return url + (url.contains("?") ? "&" : "?") + parameter;
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
