package io.holdfast.jdbc.row;

import io.holdfast.jdbc.connection.Session;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.SqlFile;
import io.holdfast.jdbc.dialect.TableName;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The tables: checked before the first use, created if that was asked for. Thread-safe. */
public final class Schema {

    /** Whether tables that are not there are made. */
    public enum Creation {
        CREATE_MISSING,
        NEVER
    }

    /** The table our files name, replaced by the user's. */
    private static final String FILE_TABLE = "holdfast_lock";

    /** What the second table's name ends in. */
    static final String TICKET = "_ticket";

    /** What we use, by the end of the table's name. */
    private static final SortedMap<String, List<String>> EXPECTED = new TreeMap<>(Map.of(
            "",
            words("name kind owner token acquired_at expires_at taken total renewals queued_until origin"),
            TICKET,
            words("number name owner state kind permits total token since ttl expires_at renewals origin")));

    private static List<String> words(String text) {
        return List.of(text.split(" "));
    }

    /** What makes a row unique, by the end of the table's name: without it a lock could be taken twice. */
    private static final Map<String, List<String>> KEYS = Map.of("", List.of("name"), TICKET, List.of("owner"));

    private static final String STATE_UNDEFINED_TABLE = "42S02";
    private static final String STATE_UNDEFINED_COLUMN = "42S22";

    private final Dialect dialect;
    private final TableName table;
    private final Creation creation;
    private final List<String> statements;
    private volatile boolean checked;

    Schema(Dialect dialect, TableName table, Creation creation) {
        this.dialect = dialect;
        this.table = table;
        this.creation = creation;
        this.statements = statements(dialect, table);
    }

    /** Throws an {@link SQLException} whose message tells what is wrong with the tables. */
    void ensure(Session session) throws SQLException {
        if (checked) {
            return;
        }
        Map<String, Map<String, Column>> tables = tables(session);
        if (creation == Creation.CREATE_MISSING && !tables.keySet().containsAll(EXPECTED.keySet())) {
            create(session);
            tables = tables(session);
        }
        for (String suffix : EXPECTED.keySet()) {
            check(suffix, tables.get(suffix));
        }
        checked = true;
    }

    /** Looks again before the next request. */
    void forget() {
        checked = false;
    }

    String howToCreate(String problem) {
        return problem + ". Create the tables with\n" + String.join(";\n", statements)
                + ";\nor let createSchema=true do it; this is docs/stores/locks-" + dialect.resourceSuffix() + ".sql";
    }

    private void create(Session session) throws SQLException {
        for (String statement : statements) {
            try {
                session.execute(statement);
            } catch (SQLException e) {
                // The check that follows tells whether all is there.
                if (!SqlFile.isCollision(e)) {
                    throw e;
                }
            }
        }
    }

    private void check(String suffix, @Nullable Map<String, Column> columns) throws SQLException {
        String localName = table.local() + suffix;
        if (columns == null) {
            throw new SQLException("There is no table '" + localName + "'", STATE_UNDEFINED_TABLE);
        }
        for (String column : EXPECTED.get(suffix)) {
            if (!columns.containsKey(column)) {
                throw new SQLException(
                        "Table '" + localName + "' has no column '" + column + "'", STATE_UNDEFINED_COLUMN);
            }
        }
        Column name = Objects.requireNonNull(columns.get("name"));
        if (!name.comparesBytes(dialect)) {
            throw new SQLException(
                    "Column 'name' of table '" + localName + "' is " + name
                            + " and does not compare bytes, so Job and job would be one lock",
                    STATE_UNDEFINED_COLUMN);
        }
        checkKey(localName, columns, Objects.requireNonNull(KEYS.get(suffix)));
    }

    private static void checkKey(String localName, Map<String, Column> columns, List<String> key) throws SQLException {
        Set<String> found = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        columns.forEach((name, column) -> {
            if (column.inKey()) {
                found.add(name);
            }
        });
        if (found.size() != key.size() || !found.containsAll(key)) {
            throw new SQLException(
                    "Table '" + localName + "' has no primary key (" + String.join(", ", key)
                            + "), so two could hold one lock",
                    STATE_UNDEFINED_COLUMN);
        }
    }

    private record Column(String type, String collation, boolean inKey) {
        boolean comparesBytes(Dialect dialect) {
            boolean rightCollation = switch (dialect) {
                case MYSQL -> true;
                case POSTGRESQL -> collation.equals("C");
                case H2 -> collation.isEmpty() || collation.equals("OFF");
            };
            return type.equalsIgnoreCase(dialect.nameColumnType()) && rightCollation;
        }

        @Override
        public String toString() {
            return collation.isEmpty() ? type : type + " with collation " + collation;
        }
    }

    private record Found(String table, String column, Column is) {}

    /** The columns of our tables that are there, by what follows our name in theirs. */
    private Map<String, Map<String, Column>> tables(Session session) throws SQLException {
        String ownSchema = switch (dialect) {
            case MYSQL -> "DATABASE()";
            case POSTGRESQL -> "ANY (current_schemas(false))";
            case H2 -> "CURRENT_SCHEMA";
        };
        String sql = "SELECT table_name, column_name, data_type, collation_name, " + inPrimaryKey()
                + " FROM information_schema.columns AS found WHERE lower(table_name) IN (lower(?), lower(?)) AND table_schema = "
                + (table.schema().isEmpty() ? ownSchema : "?");
        List<Object> values = new ArrayList<>(List.of(table.local(), table.local() + TICKET));
        if (!table.schema().isEmpty()) {
            values.add(table.schema());
        }
        Map<String, Map<String, Column>> tables = new TreeMap<>();
        for (Found found : session.query(sql, Schema::read, values.toArray())) {
            tables.computeIfAbsent(
                            found.table().substring(table.local().length()).toLowerCase(Locale.ROOT),
                            suffix -> new TreeMap<>(String.CASE_INSENSITIVE_ORDER))
                    .put(found.column(), found.is());
        }
        return tables;
    }

    private String inPrimaryKey() {
        return dialect == Dialect.MYSQL
                ? "column_key = 'PRI'"
                : "EXISTS (SELECT 1 FROM information_schema.table_constraints AS pk"
                        + " JOIN information_schema.key_column_usage AS part"
                        + " USING (constraint_schema, constraint_name, table_schema, table_name)"
                        + " WHERE pk.constraint_type = 'PRIMARY KEY' AND part.table_schema = found.table_schema"
                        + " AND part.table_name = found.table_name AND part.column_name = found.column_name)";
    }

    private static Found read(ResultSet row) throws SQLException {
        String collation = row.getString(4);
        Column column = new Column(row.getString(3), collation == null ? "" : collation, row.getBoolean(5));
        return new Found(row.getString(1), row.getString(2), column);
    }

    private static List<String> statements(Dialect dialect, TableName table) {
        return SqlFile.statements("locks-" + dialect.resourceSuffix() + ".sql").stream()
                .map(statement -> statement
                        .replace(FILE_TABLE + "_ticket_", table.local() + "_ticket_")
                        .replace(FILE_TABLE, table.text()))
                .toList();
    }
}
