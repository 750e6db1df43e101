package io.holdfast.jdbc;

import io.holdfast.jdbc.connection.Connections;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.TableName;
import io.holdfast.jdbc.row.Requests;
import io.holdfast.jdbc.row.Schema;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreTraits;
import java.util.function.BiFunction;
import javax.sql.DataSource;

/**
 * Locks in a table of MySQL, MariaDB, PostgreSQL or H2.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.connect("jdbc:postgresql://db/app?user=app");
 * Holdfast holdfast = Holdfast.builder().store(JdbcStores.using(dataSource)).connect();
 * }</pre>
 *
 * <p>Every request runs in autocommit on a connection of its own, never in the caller's transaction. Immutable; each
 * {@code with…} returns a changed copy.
 */
public final class JdbcStore implements StoreFactory {

    static final TableName STANDARD_TABLE = new TableName("holdfast_lock");

    /** Of a pool of our own: as many commits share a sync to disk. What is idle is closed again. */
    private static final int OWN_CONNECTIONS = 16;

    /** Of the user's pool, which has others to serve. */
    private static final int USERS_CONNECTIONS = 4;

    private final String description;
    private final BiFunction<StoreContext, Integer, Connections> source;
    private final TableName table;
    private final Schema.Creation creation;
    private final int connections;

    private JdbcStore(
            String description,
            BiFunction<StoreContext, Integer, Connections> source,
            TableName table,
            Schema.Creation creation,
            int connections) {
        this.description = description;
        this.source = source;
        this.table = table;
        this.creation = creation;
        this.connections = connections;
    }

    static JdbcStore using(DataSource dataSource) {
        Transactions.requireOwn(dataSource);
        return new JdbcStore(
                "jdbc data source",
                (context, connections) -> Connections.of(dataSource, connections, context),
                STANDARD_TABLE,
                Schema.Creation.NEVER,
                USERS_CONNECTIONS);
    }

    static JdbcStore at(String description, String url, Dialect dialect) {
        return new JdbcStore(
                description,
                (context, connections) -> Connections.pool(url, dialect, connections, context),
                STANDARD_TABLE,
                Schema.Creation.NEVER,
                OWN_CONNECTIONS);
    }

    /** Instead of {@code holdfast_lock}; a second table of the same name and {@code _ticket} goes with it. */
    public JdbcStore withTable(String name) {
        return new JdbcStore(description, source, new TableName(name), creation, connections);
    }

    /** Creates the tables before the first request if they are not there. */
    public JdbcStore withSchemaCreated() {
        return new JdbcStore(description, source, table, Schema.Creation.CREATE_MISSING, connections);
    }

    /** How many connections requests use at a time at most, besides the one for renewals: 16, or 4 of the user's own. */
    public JdbcStore withConnections(int atMost) {
        if (atMost < 1) {
            throw new IllegalArgumentException("a store needs at least one connection, not " + atMost);
        }
        return new JdbcStore(description, source, table, creation, atMost);
    }

    @Override
    public LockStore open(StoreContext context) {
        Connections opened = source.apply(context, connections);
        return new SqlLockStore(StoreTraits.of(description), context, opened, new Requests(opened, table, creation));
    }
}
