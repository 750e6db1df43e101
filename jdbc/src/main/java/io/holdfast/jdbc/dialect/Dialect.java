package io.holdfast.jdbc.dialect;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Locale;
import java.util.Optional;

/** What differs between the servers, as SQL text and as values to bind. */
public enum Dialect {
    MYSQL {
        @Override
        public Optional<String> connectionSettings() {
            return Optional.of("SET SESSION innodb_lock_wait_timeout = 1");
        }

        @Override
        public String now() {
            return "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6))";
        }

        @Override
        public Object bindable(String name) {
            return name.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public String readName(ResultSet row, int column) throws SQLException {
            return new String(row.getBytes(column), StandardCharsets.UTF_8);
        }

        @Override
        public String minting(String token) {
            return "LAST_INSERT_ID(" + token + ")";
        }

        @Override
        public String returningToken(String change) {
            return change;
        }

        @Override
        public String waitingBriefly() {
            return "";
        }

        @Override
        public String insertUnlessThere(String insert) {
            return insert.replaceFirst("INSERT", "INSERT IGNORE");
        }

        @Override
        public String nameLength() {
            return "LENGTH(?)";
        }

        @Override
        public String nameColumnType() {
            return "varbinary";
        }

        @Override
        public String resourceSuffix() {
            return "mysql";
        }
    },

    POSTGRESQL {
        @Override
        public Optional<String> connectionSettings() {
            return Optional.empty();
        }

        @Override
        public String now() {
            return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)";
        }

        @Override
        public String returningToken(String change) {
            return change + " RETURNING token";
        }

        /** For this statement only: behind PgBouncer the next one of this connection may be somebody else's. */
        @Override
        public String waitingBriefly() {
            return "AND (SELECT set_config('lock_timeout', '1s', true)) IS NOT NULL";
        }

        @Override
        public String insertUnlessThere(String insert) {
            return insert + " ON CONFLICT DO NOTHING";
        }

        @Override
        public String nameLength() {
            return "char_length(CAST(? AS text))";
        }

        @Override
        public String nameColumnType() {
            return "text";
        }

        @Override
        public String resourceSuffix() {
            return "postgresql";
        }
    },

    H2 {
        @Override
        public Optional<String> connectionSettings() {
            return Optional.of("SET LOCK_TIMEOUT 500");
        }

        @Override
        public String now() {
            return "DATEDIFF(MICROSECOND, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00', CURRENT_TIMESTAMP(6))";
        }

        @Override
        public String returningToken(String change) {
            return "SELECT token FROM FINAL TABLE (" + change + ")";
        }

        @Override
        public String waitingBriefly() {
            return "";
        }

        @Override
        public String insertUnlessThere(String insert) {
            return insert;
        }

        @Override
        public String nameLength() {
            return "CHAR_LENGTH(CAST(? AS VARCHAR))";
        }

        @Override
        public String nameColumnType() {
            return "character varying";
        }

        @Override
        public String resourceSuffix() {
            return "h2";
        }
    };

    /** Before a statement that is to fail if it meets a locked row. MySQL waits as long as its connection says. */
    public static final String MARIADB_AT_ONCE = "/*M!100300 SET STATEMENT innodb_lock_wait_timeout = 0 FOR */ ";

    /** Before a statement that is to wait for locked rows for so many seconds, of which InnoDB counts whole ones only. */
    public static final String MARIADB_SOON = "/*M!100300 SET STATEMENT max_statement_time = {wait} FOR */ ";

    /** A condition, always true, with the same effect on the rows it comes before. */
    public static final String POSTGRESQL_SOON = "set_config('lock_timeout', '{wait}s', true) IS NOT NULL AND ";

    /** For connections of our own, once. Where it can be avoided there is none: a pooler may lend them to others. */
    public abstract Optional<String> connectionSettings();

    /** The server's clock in microseconds since 1970, whatever time zone the session has. */
    public abstract String now();

    /** A lock name as a value of its column, which compares bytes. */
    public Object bindable(String name) {
        return name;
    }

    public String readName(ResultSet row, int column) throws SQLException {
        return row.getString(column);
    }

    /** A new token, as an expression that {@link #returningToken} can find. */
    public String minting(String token) {
        return token;
    }

    /** A change of one row that also says what its token is now. */
    public abstract String returningToken(String change);

    /** A condition, always true, by which a statement does not wait long for rows that others have locked. */
    public abstract String waitingBriefly();

    /** Makes an INSERT do nothing if its key exists; H2 says that it does. */
    public abstract String insertUnlessThere(String insert);

    public abstract String nameLength();

    public abstract String nameColumnType();

    public abstract String resourceSuffix();

    public static Dialect of(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        return named(product);
    }

    /** For what works inside the user's transactions, which H2 has no statements for. */
    public static Dialect forRecipes(Connection connection) throws SQLException {
        Dialect dialect = of(connection);
        if (dialect == H2) {
            throw new SQLFeatureNotSupportedException(
                    "fences, transaction locks and idempotency need MySQL, MariaDB or PostgreSQL; on H2 there are locks only");
        }
        return dialect;
    }

    /** By the product a driver reports, or by the second part of a JDBC URL. */
    public static Dialect named(String product) {
        return switch (product.toLowerCase(Locale.ROOT)) {
            case "mysql", "mariadb" -> MYSQL;
            case "postgresql" -> POSTGRESQL;
            case "h2" -> H2;
            default ->
                throw new IllegalArgumentException(
                        "no dialect for '" + product + "': locks can be kept in MySQL, MariaDB, PostgreSQL and H2");
        };
    }
}
