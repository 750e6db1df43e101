package io.holdfast.jdbc;

import io.holdfast.Waiting;
import io.holdfast.jdbc.Connections.Sizes;
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
    static final int STANDARD_BATONS = 4;

    /** The longest pause: mostly the store says how soon to ask again. */
    private static final Waiting.Poll POLL =
            Waiting.poll().every(Duration.ofMillis(250)).withJitter(0.25);

    private final String description;
    private final Function<Opening, Connections> source;
    private final TableName table;
    private final Schema.Creation creation;
    private final Sizes sizes;
    private final boolean listens;

    /** What a store's connections are made of. */
    record Opening(StoreContext context, Sizes sizes, String threadName) {}

    private JdbcStore(
            String description,
            Function<Opening, Connections> source,
            TableName table,
            Schema.Creation creation,
            Sizes sizes,
            boolean listens) {
        this.description = description;
        this.source = source;
        this.table = table;
        this.creation = creation;
        this.sizes = sizes;
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
                        dataSource,
                        opening.sizes().requests(),
                        opening.context().time(),
                        opening.threadName()),
                STANDARD_TABLE,
                Schema.Creation.NEVER,
                new Sizes(STANDARD_CONNECTIONS, 0),
                false);
    }

    static JdbcStore at(String description, String url, Dialect dialect) {
        return new JdbcStore(
                description,
                opening -> Connections.pool(
                        url, dialect, opening.sizes(), opening.context().time(), opening.threadName()),
                STANDARD_TABLE,
                Schema.Creation.NEVER,
                new Sizes(STANDARD_CONNECTIONS, STANDARD_BATONS),
                dialect == Dialect.POSTGRESQL);
    }

    /** Waiters poll only, and no connection is kept for being told. */
    JdbcStore withoutListening() {
        return new JdbcStore(description, source, table, creation, new Sizes(sizes.requests(), 0), false);
    }

    /** Instead of {@code holdfast_lock}; a second table of the same name and {@code _holder} goes with it. */
    public JdbcStore withTable(String name) {
        return new JdbcStore(description, source, new TableName(name), creation, sizes, listens);
    }

    /** Creates the tables before the first request if they are not there. */
    public JdbcStore withSchemaCreated() {
        return new JdbcStore(description, source, table, Schema.Creation.CREATE_MISSING, sizes, listens);
    }

    /** How many connections may queue at the server for contended locks, or be kept by those who got them that way. */
    JdbcStore withBatons(int atMost) {
        if (atMost < 0) {
            throw new IllegalArgumentException("there cannot be " + atMost + " batons");
        }
        return new JdbcStore(description, source, table, creation, new Sizes(sizes.requests(), atMost), listens);
    }

    /** How many connections requests use at a time at most, besides the one for renewals. */
    public JdbcStore withConnections(int atMost) {
        if (atMost < 1) {
            throw new IllegalArgumentException("a store needs at least one connection, not " + atMost);
        }
        return new JdbcStore(description, source, table, creation, new Sizes(atMost, sizes.batons()), listens);
    }

    @Override
    public LockStore open(StoreContext context) {
        String threadName = "holdfast-" + context.clientName() + "-sql";
        Connections opened = source.apply(new Opening(context, sizes, threadName));
        StoreTraits traits = StoreTraits.of(description).withoutQueue().withPoll(POLL);
        return new RowStore(
                traits,
                context,
                opened,
                new Requests(opened, table, creation),
                new Relay(sizes.batons(), opened, context.time(), threadName),
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
