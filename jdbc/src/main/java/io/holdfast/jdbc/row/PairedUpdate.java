package io.holdfast.jdbc.row;

import io.holdfast.jdbc.connection.Session;
import io.holdfast.jdbc.dialect.Dialect;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Changes the row of a lock and that of one ticket in one statement: both or none. Immutable.
 *
 * <p>Text for it speaks of the lock as {@code l} and of the ticket as {@code t}; a column that is assigned is written
 * {@code l:taken}.
 */
public final class PairedUpdate {

    /*
     * Two rows, but never a transaction that waits for us: a client that is stopped between two statements would keep the rows
     * locked for as long as it is stopped. So it is one statement where the server has one for it.
     *
     * PostgreSQL: the ticket is locked first, so that it is known to be as wanted before the lock changes; if it is not, or the lock's
     * condition fails, nothing changes. A statement that had to wait for the lock's row looks at the new row, but at everything else as
     * it was when the statement began: so its conditions name columns of that row and constants only, and what comes from elsewhere
     * is joined (a subquery that changes something must not run a second time).
     *
     * MySQL and MariaDB: an UPDATE of two tables, whose rows are locked as they are read and read as they are now. It cannot delete, so
     * a ticket that ends is marked, which takes it out of every queue and sum, and deleted in a second statement; if that never comes,
     * it is swept away later. In which order tables are assigned is not promised: no expression reads a column of the other
     * table that is assigned too, but for the token in the ticket, which only listings show.
     *
     * H2 has neither: there it is a transaction. Its clients are mostly threads of the process the database is in.
     */

    private static final String ENDED = "t:state = 'ended', t:expires_at = 0";

    private final Dialect dialect;
    private final boolean minting;
    private final boolean ending;
    private final UnaryOperator<String> names;
    private final Parts parts;
    private final String oneStatement;

    /**
     * @param lockSet assignments to the lock
     * @param lockWhere what must be true of it
     * @param ticketSet assignments to the ticket; empty if it ends
     * @param ticketWhere what must be true of it, beside its owner
     */
    record Parts(String lockSet, String lockWhere, String ticketSet, String ticketWhere) {}

    /** What the question marks in each of the parts stand for. */
    record Values(List<Object> lockSet, List<Object> lockWhere, List<Object> ticketSet) {}

    /** @param names puts in names of tables and what else a text has in braces */
    PairedUpdate(Dialect dialect, UnaryOperator<String> names, Parts parts) {
        this.dialect = dialect;
        this.minting = parts.lockSet().contains("{mint}");
        this.ending = parts.ticketSet().isEmpty();
        this.names = names;
        this.parts = ending ? new Parts(parts.lockSet(), parts.lockWhere(), ENDED, parts.ticketWhere()) : parts;
        this.oneStatement = names.apply(dialect == Dialect.MYSQL ? mySql() : postgreSql());
    }

    private String mySql() {
        String granted = minting ? "GREATEST(l.token, {now})" : "l.token";
        return """
                UPDATE {lock} l JOIN {ticket} t ON t.name = l.name SET %s, %s
                WHERE t.owner = ? AND %s AND %s""".formatted(
                        parts.lockSet(),
                        parts.ticketSet().replace("{granted}", granted),
                        parts.ticketWhere(),
                        parts.lockWhere())
                .replace("{mint}", "LAST_INSERT_ID(GREATEST(l.token + 1, {now}))")
                .replace("l:", "l.")
                .replace("t:", "t.");
    }

    private String postgreSql() {
        String changeTicket = ending
                ? "DELETE FROM {ticket} t USING changed"
                : "UPDATE {ticket} t SET " + parts.ticketSet().replace("{granted}", "changed.token") + " FROM changed";
        return plain("""
                WITH own AS MATERIALIZED (SELECT t.name FROM {ticket} t WHERE t.owner = ? AND %s {briefly} FOR UPDATE),
                changed AS (UPDATE {lock} l SET %s FROM own WHERE l.name = own.name AND %s {briefly} RETURNING l.token),
                ticket AS (%s WHERE t.owner = ?)
                SELECT token FROM changed""".formatted(parts.ticketWhere(), parts.lockSet(), parts.lockWhere(), changeTicket));
    }

    private static String plain(String text) {
        return text.replace("{mint}", "GREATEST(l.token + 1, {now})")
                .replace("l:", "")
                .replace("t:", "");
    }

    /** The token of the lock afterwards; empty if nothing was changed. */
    Optional<Long> run(Session session, String owner, Values values) throws SQLException {
        return switch (dialect) {
            case MYSQL -> runOnMySql(session, owner, values);
            case POSTGRESQL ->
                session
                        .updateReturning(
                                oneStatement,
                                row -> row.getLong(1),
                                all(
                                        List.of(owner),
                                        values.lockSet(),
                                        values.lockWhere(),
                                        values.ticketSet(),
                                        List.of(owner)))
                        .stream()
                        .findFirst();
            case H2 -> runOnH2(session, owner, values);
        };
    }

    private Optional<Long> runOnMySql(Session session, String owner, Values values) throws SQLException {
        Object[] all = all(values.lockSet(), values.ticketSet(), List.of(owner), values.lockWhere());
        if (minting) {
            return session.updateReturningKey(oneStatement, "token", all);
        }
        return session.update(oneStatement, all) > 0 ? Optional.of(0L) : Optional.empty();
    }

    private Optional<Long> runOnH2(Session session, String owner, Values values) throws SQLException {
        session.begin();
        Optional<Long> token = lockOnH2(session, owner, values);
        if (token.isEmpty()) {
            session.startOver();
            return token;
        }
        String changeTicket = ending
                ? "DELETE FROM {ticket} t WHERE t.owner = ?"
                : plain("UPDATE {ticket} t SET "
                        + parts.ticketSet().replace("{granted}", token.get().toString()) + " WHERE t.owner = ?");
        session.update(names.apply(changeTicket), all(ending ? List.of() : values.ticketSet(), List.of(owner)));
        session.commit();
        return token;
    }

    private Optional<Long> lockOnH2(Session session, String owner, Values values) throws SQLException {
        String lockTicket =
                plain("SELECT t.name FROM {ticket} t WHERE t.owner = ? AND " + parts.ticketWhere() + " FOR UPDATE");
        List<String> name = session.query(names.apply(lockTicket), row -> row.getString(1), owner);
        if (name.isEmpty()) {
            return Optional.empty();
        }
        String changeLock = plain("SELECT token FROM FINAL TABLE (UPDATE {lock} l SET " + parts.lockSet()
                + " WHERE l.name = ? AND " + parts.lockWhere() + ")");
        Object[] all = all(values.lockSet(), List.of(name.get(0)), values.lockWhere());
        return session.query(names.apply(changeLock), row -> row.getLong(1), all).stream()
                .findFirst();
    }

    private static Object[] all(List<?>... lists) {
        List<Object> values = new ArrayList<>();
        for (List<?> list : lists) {
            values.addAll(list);
        }
        return values.toArray();
    }
}
