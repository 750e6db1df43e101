package io.holdfast.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Optional;

/** What differs between the servers, as SQL text and as values to bind. */
enum Dialect {
    MYSQL {
        @Override
        String connectionSettings() {
            return "SET SESSION innodb_lock_wait_timeout = 1 /*M!100300 , SESSION idle_transaction_timeout = 1 */";
        }

        @Override
        String limitingIdleTime() {
            return "";
        }

        @Override
        Optional<String> beforeTransaction() {
            return Optional.of(
                    "SET @holdfast_idle = 0 /*M!100300 , @holdfast_idle = @@SESSION.idle_transaction_timeout,"
                            + " SESSION idle_transaction_timeout = 1 */");
        }

        @Override
        Optional<String> afterTransaction() {
            return Optional.of("SET @holdfast_idle = @holdfast_idle"
                    + " /*M!100300 , SESSION idle_transaction_timeout = @holdfast_idle */");
        }

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
        String connectionSettings() {
            return "SET lock_timeout = '" + Connections.POSTGRESQL_LOCK_TIMEOUT + "'";
        }

        @Override
        String limitingIdleTime() {
            return ", set_config('idle_in_transaction_session_timeout', '1s', true)";
        }

        @Override
        Optional<String> beforeTransaction() {
            return Optional.empty();
        }

        @Override
        Optional<String> afterTransaction() {
            return Optional.empty();
        }

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

    /*
     * A client that is stopped in the middle of a transaction keeps its row locked. So the server ends a transaction of ours in which
     * nothing has come for a second, and nobody waits long for a row. What begins with M! is done by MariaDB, and a comment for
     * MySQL, which cannot end an idle transaction.
     */

    /** Before a statement that is to fail if it meets a locked row. MySQL waits as long as its connection says. */
    static final String MARIADB_AT_ONCE = "/*M!100300 SET STATEMENT innodb_lock_wait_timeout = 0 FOR */ ";

    /** Before a statement that is to wait for locked rows for so many seconds, of which InnoDB counts whole ones only. */
    static final String MARIADB_SOON = "/*M!100300 SET STATEMENT max_statement_time = {wait} FOR */ ";

    /** A condition, always true, with the same effect on the rows it comes before. */
    static final String POSTGRESQL_SOON = "set_config('lock_timeout', '{wait}s', true) IS NOT NULL AND ";

    /** For connections of our own, once. */
    abstract String connectionSettings();

    /** A column for the statement that locks a row, by which the server ends the transaction if it stays idle for a second. */
    abstract String limitingIdleTime();

    /** The same for a server that is told before, on a connection of the user's. */
    abstract Optional<String> beforeTransaction();

    /** Takes {@link #beforeTransaction} back. */
    abstract Optional<String> afterTransaction();

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
