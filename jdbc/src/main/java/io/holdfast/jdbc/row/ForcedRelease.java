package io.holdfast.jdbc.row;

import io.holdfast.Demand;
import io.holdfast.jdbc.row.Requests.Exchange;
import java.util.List;
import java.util.Optional;

/** Takes a lock from all who have it, and from nobody who comes later. Used by one thread. */
public final class ForcedRelease {

    /*
     * Whom it hits is settled by a list and a look. Each change after them is made again alone if the server has undone it. To start
     * over hit somebody else: five readers had the lock and were made to leave, a writer was let in, the advance of the token
     * met a deadlock, and the next look found the writer, whose lock was then taken from it.
     *
     * The tickets are listed before the row is looked at. Who joins between the two is not on the list and stays. Who takes the lock alone
     * between the two is seen in the row: those on the list have left, and the lock is taken from this one, by the token seen, or
     * from nobody. The other way round, readers that joined after the look would be on the list. An owner has one grant in its life,
     * so an owner on the list never stands for somebody later. A change that fails was undone, so each of them counts once.
     *
     * Who had the lock alone and goes on as a reader between the two is neither on the list nor alone in the row, though it was there
     * from the start. So an empty list that the row contradicts is made anew, and the row is looked at again.
     * The new list may have a reader that joined after the first: it had the lock while this ran, as one that took it alone.
     *
     * All on the list were granted tokens before the look. A token that has changed since is past theirs already, and belongs to
     * somebody let in later: it is left alone.
     */

    private static final String HELD =
            "SELECT t.owner, t.permits FROM {ticket} t WHERE t.name = ? AND t.state = 'held'";

    private static final String SEIZE = """
            UPDATE {lock} l SET owner = NULL, origin = NULL, token = GREATEST(l.token + 1, {now}), expires_at = 0, taken = 0
            WHERE l.name = ? AND l.kind = 'exclusive' AND l.token = ? AND l.taken > 0 {briefly}""";

    private static final String ADVANCE =
            "UPDATE {lock} l SET token = GREATEST(l.token + 1, {now}) WHERE l.name = ? AND l.token = ? {briefly}";

    /** A row that still contradicts the list is itself wrong, and is put right by what follows. */
    private static final int MOST_LOOKS = 3;

    private final String name;
    private final Exchange exchange;

    public ForcedRelease(String name, Exchange exchange) {
        this.name = name;
        this.exchange = exchange;
    }

    private record Held(String owner, int permits) {}

    /** Returns how many had it. */
    public int run() {
        for (int looks = 1; ; looks++) {
            List<Held> held = list();
            Optional<LockState> seen = look();
            if (seen.isEmpty()) {
                return 0;
            }
            long token = seen.get().token();
            if (!seen.get().isHeldByTickets()) {
                return change(SEIZE, token);
            }
            if (!held.isEmpty() || looks == MOST_LOOKS) {
                return disperse(held, token);
            }
        }
    }

    private List<Held> list() {
        return exchange.run((session, sql) ->
                session.query(sql.text(HELD), row -> new Held(row.getString(1), row.getInt(2)), sql.name(name)));
    }

    private Optional<LockState> look() {
        return exchange.run((session, sql) -> sql.look(session, name, Demand.exclusive(), LockSql.NOT_QUEUED));
    }

    private int disperse(List<Held> held, long token) {
        int lost = 0;
        for (Held one : held) {
            if (exchange.run((session, sql) ->
                    sql.leave(session, one.owner(), one.permits()) || sql.remove(session, one.owner()))) {
                lost++;
            }
        }
        change(ADVANCE, token);
        exchange.run((session, sql) -> new Members(sql).settle(session, name));
        return lost;
    }

    private int change(String text, long token) {
        return exchange.run((session, sql) -> session.update(sql.text(text), sql.name(name), token));
    }
}
