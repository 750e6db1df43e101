package io.holdfast.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;

/** What differs between the servers, as SQL text and as values to bind. */
enum Dialect {
    MYSQL {
        @Override
        String now() {
            return "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6))";
        }

        @Override
        Object bindable(String name) {
            return name.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        String insertUnlessThere(String insert) {
            return insert.replaceFirst("INSERT", "INSERT IGNORE");
        }

        @Override
        String nameLength() {
            return "LENGTH(?)";
        }

        @Override
        String nameColumnType() {
            return "varbinary";
        }

        @Override
        String resourceSuffix() {
            return "mysql";
        }
    },

    POSTGRESQL {
        @Override
        String now() {
            return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)";
        }

        @Override
        Object bindable(String name) {
            return name;
        }

        @Override
        String insertUnlessThere(String insert) {
            return insert + " ON CONFLICT DO NOTHING";
        }

        @Override
        String nameLength() {
            return "char_length(CAST(? AS text))";
        }

        @Override
        String nameColumnType() {
            return "text";
        }

        @Override
        String resourceSuffix() {
            return "postgresql";
        }
    };

    /** The server's clock in microseconds since 1970, whatever time zone the session has. */
    abstract String now();

    /** A lock name as a value of its column, which compares bytes. */
    abstract Object bindable(String name);

    /** Makes an INSERT do nothing if its key exists. */
    abstract String insertUnlessThere(String insert);

    abstract String nameLength();

    abstract String nameColumnType();

    abstract String resourceSuffix();

    static Dialect of(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        return named(product);
    }

    /** By the product a driver reports, or by the second part of a JDBC URL. */
    static Dialect named(String product) {
        return switch (product.toLowerCase(Locale.ROOT)) {
            case "mysql", "mariadb" -> MYSQL;
            case "postgresql" -> POSTGRESQL;
            default ->
                throw new IllegalArgumentException(
                        "no dialect for '" + product + "': locks can be kept in MySQL, MariaDB and PostgreSQL");
        };
    }
}
