package io.holdfast.jdbc.row;

import io.holdfast.jdbc.connection.Session;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Clears away tickets whose time is over and locks long unused, and sets right what a row says of those that hold its lock. Immutable. */
public final class Members {

    /*
     * Tickets of the dead are deleted, in a statement that also checks their time: it meets a late renewal at the ticket's row, and one of
     * the two finds nothing left. From then on the lock's row says that more is taken than is, which keeps others out but lets
     * nobody in who must not. It is then set to the sum of the tickets that were there at one moment, unless somebody was let in since
     * (the token has changed) or left (what is taken has changed). Who is stopped or killed between the two steps leaves the rest to
     * the next one it is in the way of, and so does an administrator who deletes a ticket by hand.
     */

    private static final Logger LOG = System.getLogger(Members.class.getName());

    /** At most so many rows at a time. */
    private static final int SOME = 100;

    /** Not those whose tokens the clock has not reached yet: it would give them again. */
    private static final String IDLE =
            "(taken = 0 OR expires_at <= {now} - ?) AND acquired_at <= {now} - ? AND token <= {now} - ?";

    private static final String DEAD =
            "SELECT t.owner FROM {ticket} t WHERE t.name = ? AND t.expires_at <= {now} LIMIT " + SOME;

    private static final String DEAD_ANYWHERE =
            "SELECT DISTINCT t.name FROM {ticket} t WHERE t.expires_at <= {now} LIMIT " + SOME;

    private static final String REMOVE_DEAD =
            "DELETE FROM {ticket} WHERE owner IN ({some}) AND expires_at <= {now} {briefly}";

    private static final String COUNT = """
            SELECT l.token, l.taken, l.total, COALESCE(SUM(t.permits), 0), COALESCE(MIN(t.total), l.total)
            FROM {lock} l LEFT JOIN {ticket} t ON t.name = l.name AND t.state = 'held'
            WHERE l.name = ? AND l.kind <> 'exclusive' AND l.taken > 0 GROUP BY l.token, l.taken, l.total""";

    private static final String CORRECT = """
            UPDATE {lock} l SET taken = ?, total = ?
            WHERE l.name = ? AND l.token = ? AND l.taken = ? AND l.kind <> 'exclusive' {briefly}""";

    private static final String FIND_IDLE = "SELECT name FROM {lock} l WHERE " + IDLE + " AND name > ?"
            + " AND NOT EXISTS (SELECT 1 FROM {ticket} t WHERE t.name = l.name) ORDER BY name LIMIT " + SOME;

    private static final String REMOVE_IDLE = "DELETE FROM {lock} WHERE " + IDLE + " AND name IN ({some}) {briefly}";

    private final LockSql sql;

    public Members(LockSql sql) {
        this.sql = sql;
    }

    /** What the row says, and what the tickets say. */
    private record Count(long token, int taken, int total, long sum, int smallestTotal) {

        static Count read(ResultSet row) throws SQLException {
            return new Count(row.getLong(1), row.getInt(2), row.getInt(3), row.getLong(4), row.getInt(5));
        }

        boolean isRight() {
            return taken == sum && (sum == 0 || total == smallestTotal);
        }
    }

    /** Whether something that was in the way of others is so no longer. */
    public boolean settle(Session session, String name) throws SQLException {
        boolean removed = removeDead(session, name);
        return correct(session, name, removed) || removed;
    }

    /** The same for some of all locks; for how many. */
    public int sweep(Session session) throws SQLException {
        List<String> names =
                session.query(sql.text(DEAD_ANYWHERE), row -> sql.dialect().readName(row, 1));
        for (String name : names) {
            settle(session, name);
        }
        return names.size();
    }

    private boolean removeDead(Session session, String name) throws SQLException {
        boolean any = false;
        List<String> owners;
        do {
            owners = session.query(sql.text(DEAD), row -> row.getString(1), sql.name(name));
            if (!owners.isEmpty()) {
                int removed =
                        session.update(LockSql.forMany(sql.text(REMOVE_DEAD), owners.size()), LockSql.values(owners));
                any |= removed > 0;
                if (removed == 0) {
                    return any;
                }
            }
        } while (owners.size() == SOME);
        return any;
    }

    private boolean correct(Session session, String name, boolean expected) throws SQLException {
        Optional<Count> seen = session.query(sql.text(COUNT), Count::read, sql.name(name)).stream()
                .findFirst();
        if (seen.isEmpty() || seen.get().isRight()) {
            return false;
        }
        Count wrong = seen.get();
        boolean done = session.update(
                        sql.text(CORRECT),
                        (int) wrong.sum(),
                        wrong.smallestTotal(),
                        sql.name(name),
                        wrong.token(),
                        wrong.taken())
                == 1;
        if (done && !expected && wrong.taken() != wrong.sum()) {
            LOG.log(
                    Level.WARNING,
                    () -> "The row of lock '" + name + "' said that " + wrong.taken()
                            + " permits are taken, its tickets say " + wrong.sum()
                            + ": somebody died while leaving, or a ticket was deleted by hand. It was set right.");
        }
        return done;
    }

    /**
     * Clears what the dead left, then removes rows of locks unused for so long. Returns how many. They are found first: MySQL
     * locks all rows that a DELETE reads. Who begins to wait for one of them meanwhile adds its row again.
     */
    public int prune(Session session, Duration idleFor) throws SQLException {
        sweep(session);
        long idle = LockSql.micros(idleFor);
        int removed = 0;
        String last = "";
        List<String> names;
        do {
            names = session.query(
                    sql.text(FIND_IDLE), row -> sql.dialect().readName(row, 1), idle, idle, idle, sql.name(last));
            if (!names.isEmpty()) {
                last = names.get(names.size() - 1);
                List<Object> keys = names.stream().map(sql::name).toList();
                removed += session.update(
                        LockSql.forMany(sql.text(REMOVE_IDLE), keys.size()), LockSql.values(keys, idle, idle, idle));
            }
        } while (names.size() == SOME);
        return removed;
    }
}
