package io.holdfast.jdbc;

import io.holdfast.Waiting;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreTraits;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * Locks in a table of MySQL, MariaDB or PostgreSQL.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.connect("jdbc:postgresql://db/app?user=app");
 * Holdfast holdfast = Holdfast.builder().store(JdbcStore.on(dataSource)).connect();
 * }</pre>
 *
 * <p>Every request runs in autocommit on a connection of its own, never in the caller's transaction. Immutable; each
 * {@code with…} returns a changed copy.
 */
public final class JdbcStore implements StoreFactory {

    static final TableName STANDARD_TABLE = new TableName("holdfast_lock");
    static final int STANDARD_CONNECTIONS = 4;

    /** The first pause is about what a short critical section takes; pauses stay shorter than a wish lasts. */
    private static final Waiting.Poll POLL = Waiting.poll()
            .withBackoff(Duration.ofMillis(4), Duration.ofMillis(250), 1.6)
            .withJitter(0.25);

    private final String description;
    private final Function<Opening, Connections> source;
    private final TableName table;
    private final Schema.Creation creation;
    private final int connections;
    private final boolean listens;

    /** What a store's connections are made of. */
    record Opening(StoreContext context, int connections, String threadName) {}

    private JdbcStore(
            String description,
            Function<Opening, Connections> source,
            TableName table,
            Schema.Creation creation,
            int connections,
            boolean listens) {
        this.description = description;
        this.source = source;
        this.table = table;
        this.creation = creation;
        this.connections = connections;
        this.listens = listens;
    }

    /**
     * Over connections of the user's, which stay the user's to close. Give it a plain {@code DataSource}: one that hands out
     * the connection of the transaction under way would mix locks with the caller's data.
     */
    public static JdbcStore on(DataSource dataSource) {
        requireOwnConnections(dataSource);
        return new JdbcStore(
                "jdbc data source",
                opening -> Connections.of(
                        dataSource, opening.connections(), opening.context().time(), opening.threadName()),
                STANDARD_TABLE,
                Schema.Creation.NEVER,
                STANDARD_CONNECTIONS,
                false);
    }

    static JdbcStore at(String description, String url, Dialect dialect) {
        return new JdbcStore(
                description,
                opening -> Connections.pool(
                        url, dialect, opening.connections(), opening.context().time(), opening.threadName()),
                STANDARD_TABLE,
                Schema.Creation.NEVER,
                STANDARD_CONNECTIONS,
                dialect == Dialect.POSTGRESQL);
    }

    /** For poolers that do not pass notifications on: waiters poll only, and no connection is kept for listening. */
    JdbcStore withoutListening() {
        return new JdbcStore(description, source, table, creation, connections, false);
    }

    /** Instead of {@code holdfast_lock}; a second table of the same name and {@code _holder} goes with it. */
    public JdbcStore withTable(String name) {
        return new JdbcStore(description, source, new TableName(name), creation, connections, listens);
    }

    /** Creates the tables before the first request if they are not there. */
    public JdbcStore withSchemaCreated() {
        return new JdbcStore(description, source, table, Schema.Creation.CREATE_MISSING, connections, listens);
    }

    /** How many connections requests use at a time at most, besides the one for renewals. */
    public JdbcStore withConnections(int atMost) {
        if (atMost < 1) {
            throw new IllegalArgumentException("a store needs at least one connection, not " + atMost);
        }
        return new JdbcStore(description, source, table, creation, atMost, listens);
    }

    @Override
    public LockStore open(StoreContext context) {
        String threadName = "holdfast-" + context.clientName() + "-sql";
        Connections opened = source.apply(new Opening(context, connections, threadName));
        StoreTraits traits = StoreTraits.of(description).withPoll(POLL);
        return new RowStore(
                traits,
                context,
                opened,
                new Requests(opened, table, creation),
                listens ? opened.extra() : Optional.empty());
    }

    private static void requireOwnConnections(DataSource dataSource) {
        if (dataSource.getClass().getSimpleName().startsWith("TransactionAware")) {
            throw new IllegalArgumentException("a " + dataSource.getClass().getSimpleName()
                    + " hands out the caller's own transaction, which would"
                    + " commit and roll back locks with its data: give the DataSource behind it");
        }
    }
}
