package io.holdfast.jdbc.dialect;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Locale;

/** What differs between the servers, as SQL text and as values to bind. */
public enum Dialect {
    MYSQL(
            "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6))",
            "varbinary",
            "LENGTH(?)",
            "SET SESSION innodb_lock_wait_timeout = 1"),

    /** Without settings: a pooler may lend its connections to others. */
    POSTGRESQL(
            "CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint)",
            "text",
            "char_length(CAST(? AS text))",
            ""),

    H2(
            "DATEDIFF(MICROSECOND, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00', CURRENT_TIMESTAMP(6))",
            "character varying",
            "CHAR_LENGTH(CAST(? AS VARCHAR))",
            "SET LOCK_TIMEOUT 500");

    /** Before a statement that is to fail if it meets a locked row. MySQL waits as long as its connection says. */
    public static final String MARIADB_AT_ONCE = "/*M!100300 SET STATEMENT innodb_lock_wait_timeout = 0 FOR */ ";

    /** Before a statement that is to wait for locked rows for so many seconds, of which InnoDB counts whole ones only. */
    public static final String MARIADB_SOON = "/*M!100300 SET STATEMENT max_statement_time = {wait} FOR */ ";

    /** A condition, always true, with the same effect on the rows it comes before. */
    public static final String POSTGRESQL_SOON = "set_config('lock_timeout', '{wait}s', true) IS NOT NULL AND ";

    private final String now;
    private final String nameColumnType;
    private final String nameLength;
    private final String connectionSettings;

    Dialect(String now, String nameColumnType, String nameLength, String connectionSettings) {
        this.now = now;
        this.nameColumnType = nameColumnType;
        this.nameLength = nameLength;
        this.connectionSettings = connectionSettings;
    }

    /** The server's clock in microseconds since 1970, whatever time zone the session has. */
    public String now() {
        return now;
    }

    public String nameColumnType() {
        return nameColumnType;
    }

    public String nameLength() {
        return nameLength;
    }

    /** For connections of our own, once; may be empty. */
    public String connectionSettings() {
        return connectionSettings;
    }

    public String resourceSuffix() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** A lock name as a value of its column, which compares bytes. */
    public Object bindable(String name) {
        return this == MYSQL ? name.getBytes(StandardCharsets.UTF_8) : name;
    }

    public String readName(ResultSet row, int column) throws SQLException {
        return this == MYSQL ? new String(row.getBytes(column), StandardCharsets.UTF_8) : row.getString(column);
    }

    /** A new token, as an expression that {@link #returningToken} can find. */
    public String minting(String token) {
        return this == MYSQL ? "LAST_INSERT_ID(" + token + ")" : token;
    }

    /** A change of one row that also says what its token is now. */
    public String returningToken(String change) {
        return switch (this) {
            case MYSQL -> change;
            case POSTGRESQL -> change + " RETURNING token";
            case H2 -> "SELECT token FROM FINAL TABLE (" + change + ")";
        };
    }

    /**
     * A condition, always true, by which a statement does not wait long for rows that others have locked. For this statement only:
     * behind PgBouncer the next one of this connection may be somebody else's. It is judged for each row before that is locked; as a
     * subquery it cost four times as much.
     */
    public String waitingBriefly() {
        return this == POSTGRESQL ? "AND set_config('lock_timeout', '1s', true) IS NOT NULL" : "";
    }

    /** Makes an INSERT do nothing if its key exists; H2 says that it does. */
    public String insertUnlessThere(String insert) {
        return switch (this) {
            case MYSQL -> insert.replaceFirst("INSERT", "INSERT IGNORE");
            case POSTGRESQL -> insert + " ON CONFLICT DO NOTHING";
            case H2 -> insert;
        };
    }

    public static Dialect of(Connection connection) throws SQLException {
        return named(connection.getMetaData().getDatabaseProductName());
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
