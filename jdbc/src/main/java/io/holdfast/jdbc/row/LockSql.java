package io.holdfast.jdbc.row;

import io.holdfast.Demand;
import io.holdfast.jdbc.connection.Session;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.SqlFile;
import io.holdfast.jdbc.dialect.TableName;
import io.holdfast.jdbc.row.PairedUpdate.Parts;
import io.holdfast.jdbc.row.PairedUpdate.Values;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.support.OriginText;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The statements that grant locks and end grants, for one dialect and one pair of tables. Times in them are microseconds of the
 * server's clock. Each is one message that the server finishes, or undoes, without hearing from us again. Thread-safe.
 */
public final class LockSql {

    /*
     * What excludes stands in the row being updated. The row of a lock says how it is held (kind), how much of it is taken, of how
     * much (total), and, if one holds it alone, who and until when. It is free if nothing is taken or that time has passed. So two who
     * want it at the same moment meet at this row, and the second one's conditions are judged on what the first has left.
     *
     * Who shares a lock or has permits of it has a ticket of its own, whose row says until when; renewals of 5,000 readers do not
     * touch the lock's row. `taken` is the sum of their permits: joining and leaving change both rows at once (PairedUpdate). It may be
     * larger than the sum for a moment, after dead tickets were deleted (see Members), never smaller.
     *
     * Waiting tickets stand in the same table, in the order of their numbers. Order is advice: whether others are ahead is asked of
     * another table, as it was when the statement began. Somebody who began to wait while a request was under way may be passed by it; no
     * holder ever is. To ask it costs MariaDB half as much again as taking the lock. So who waits marks the lock's row first
     * (queued_until), for longer than its ticket lasts; marks are never taken back, they end. Only who finds a mark asks for tickets.
     *
     * Every grant mints a token, so an unchanged token tells that nobody was let in since.
     */

    private static final Logger LOG = System.getLogger(LockSql.class.getName());

    /** Who is further behind than this does not know how far. */
    public static final int COUNTED_AHEAD = 256;

    /** Instead of the number of a ticket, for somebody who has none: everybody who waits is ahead. */
    public static final long NOT_QUEUED = Long.MAX_VALUE;

    /** When a lock held by tickets ends: not by its own time. */
    private static final long FOREVER = Long.MAX_VALUE / 2;

    private static final String TAKE_ALONE = """
            l:kind = 'exclusive', l:owner = ?, l:token = {mint}, l:acquired_at = {now}, l:expires_at = {now} + ?,
                l:taken = 1, l:total = 1, l:renewals = 0, l:origin = ?""";

    /** What it has in place of a number costs a temporary table, so those who do not need it have none. */
    private static final String LOOK = """
            SELECT l.kind, l.taken, l.total, l.expires_at, l.token, l.queued_until, {now}, (SELECT COUNT(*) FROM (
                SELECT 1 AS one FROM {ticket} t WHERE t.name = ? AND t.state = 'waiting' AND t.number < ?
                    AND t.kind <> ? AND {alive} LIMIT {counted}) ahead), %s
            FROM {lock} l WHERE l.name = ?""";

    private static final Parts TAKE_QUEUED =
            new Parts(TAKE_ALONE, "{free}", "", "t.state = 'waiting' AND t.expires_at > {now}");

    private static final Parts JOIN = new Parts(
            """
            l:total = CASE WHEN l.taken = 0 THEN ? ELSE LEAST(l.total, ?) END, l:taken = l.taken + ?, l:kind = ?,
                l:owner = NULL, l:token = {mint}, l:acquired_at = {now}, l:expires_at = {forever}, l:origin = NULL""",
            "(l.taken = 0 OR (l.kind = ? AND l.taken + ? <= LEAST(l.total, ?)))",
            "t:state = 'held', t:token = {granted}, t:since = {now}, t:expires_at = {now} + ?, t:renewals = 0",
            "t.state IN ('waiting', 'trying') AND t.expires_at > {now}");

    private static final Parts LEAVE = new Parts(
            "l:taken = l.taken - ?",
            "l.kind <> 'exclusive' AND l.taken >= ?",
            "",
            "t.state = 'held' AND t.expires_at > {now}");

    private static final Parts DOWNGRADE = new Parts(
            """
            l:kind = 'shared', l:owner = NULL, l:expires_at = {forever}, l:taken = 1, l:total = ?, l:origin = NULL""",
            "l.owner = ? AND l.expires_at > {now}",
            "t:state = 'held', t:token = {granted}, t:since = {now}, t:expires_at = {now} + ?, t:renewals = 0",
            "t.state = 'trying'");

    private final Dialect dialect;
    private final TableName table;
    private final Schema schema;
    private final Map<String, String> texts = new ConcurrentHashMap<>();
    private final PairedUpdate takeQueued;
    private final PairedUpdate join;
    private final PairedUpdate leave;
    private final PairedUpdate downgrade;
    private final String take;
    private final String takeUnlessQueued;
    private final String createTaken;
    private final String createFree;
    private final String look;
    private final String lookAsReader;

    LockSql(Dialect dialect, TableName table, Schema schema) {
        this.dialect = dialect;
        this.table = table;
        this.schema = schema;
        takeQueued = new PairedUpdate(dialect, this::text, TAKE_QUEUED);
        join = new PairedUpdate(dialect, this::text, JOIN);
        leave = new PairedUpdate(dialect, this::text, LEAVE);
        downgrade = new PairedUpdate(dialect, this::text, DOWNGRADE);
        String takeIf =
                "UPDATE {lock} l SET " + TAKE_ALONE.replace("l:", "") + " WHERE l.name = ? AND {free} {briefly} AND ";
        take = text(dialect.returningToken(takeIf + "l.queued_until <= {now}"));
        takeUnlessQueued = text(dialect.returningToken(takeIf + """
                NOT EXISTS (
                    SELECT 1 FROM {ticket} t WHERE t.name = ? AND t.state = 'waiting' AND {alive})"""));
        createTaken = text(dialect.returningToken(dialect.insertUnlessThere("""
                INSERT INTO {lock} (name, kind, owner, token, acquired_at, expires_at, taken, total, renewals, origin)
                VALUES (?, 'exclusive', ?, {first}, {now}, {now} + ?, 1, 1, 0, ?)""")));
        createFree = text(dialect.returningToken(dialect.insertUnlessThere("""
                INSERT INTO {lock} (name, kind, token, acquired_at, expires_at, taken, total, renewals)
                VALUES (?, 'exclusive', {given}, {now}, 0, 0, 1, 0)""")));
        look = text(LOOK.formatted("0"));
        lookAsReader = text(LOOK.formatted("""
                (SELECT COUNT(*) FROM (SELECT 1 AS one FROM {ticket} t WHERE t.name = ? AND t.state = 'waiting'
                    AND t.number < ? LIMIT {counted}) earlier)"""));
    }

    public Dialect dialect() {
        return dialect;
    }

    Schema schema() {
        return schema;
    }

    /** Takes a free lock alone; empty if it is taken, marked as queued for, or has no row. */
    public Optional<Long> take(Session session, Ticket ticket) throws SQLException {
        return take(session, take, ticket, name(ticket.name()));
    }

    /** The same whatever the mark says; empty if others do wait for it. */
    public Optional<Long> takeUnlessQueued(Session session, Ticket ticket) throws SQLException {
        Object name = name(ticket.name());
        return take(session, takeUnlessQueued, ticket, name, name);
    }

    private Optional<Long> take(Session session, String sql, Ticket ticket, Object... names) throws SQLException {
        List<Object> values = new ArrayList<>(alone(ticket));
        values.addAll(List.of(names));
        return session.updateReturningToken(dialect, sql, values.toArray());
    }

    /** What {@link #TAKE_ALONE} wants to know. */
    private static List<Object> alone(Ticket ticket) {
        return List.of(ticket.owner().toString(), micros(ticket.ttl()), OriginText.write(ticket.origin()));
    }

    /** Marks a lock as queued for, for so long at least. */
    public int markQueued(Session session, String name, Duration time) throws SQLException {
        return session.update(
                text(
                        "UPDATE {lock} l SET queued_until = GREATEST(l.queued_until, {now} + ?) WHERE l.name = ? {briefly}"),
                micros(time),
                name(name));
    }

    /** Adds the row of a lock never used before, taken at once; empty if somebody else was faster. */
    public Optional<Long> createTaken(Session session, Ticket ticket) throws SQLException {
        List<Object> values = new ArrayList<>(List.of(name(ticket.name())));
        values.addAll(alone(ticket));
        return create(session, createTaken, values.toArray());
    }

    /** Adds the row of a lock, if it is not there. */
    public boolean createFree(Session session, String name, long token) throws SQLException {
        return create(session, createFree, name(name), token).isPresent();
    }

    private Optional<Long> create(Session session, String sql, Object... values) throws SQLException {
        try {
            return session.updateReturningToken(dialect, sql, values);
        } catch (SQLException e) {
            if (!SqlFile.isCollision(e)) {
                throw e;
            }
            return Optional.empty();
        }
    }

    /**
     * Shows a lock to somebody who wants it.
     *
     * @param number of the ticket it waits with, or {@link #NOT_QUEUED}; only those before count as ahead
     */
    public Optional<LockState> look(Session session, String name, Demand demand, long number) throws SQLException {
        Object key = name(name);
        // Readers are not in each other's way, but if many wait each of them looks less often.
        List<LockState> seen = demand instanceof Demand.Shared && number < NOT_QUEUED
                ? session.query(lookAsReader, LockState::read, key, number, Kind.SHARED.text, key, number, key)
                : session.query(
                        look,
                        LockState::read,
                        key,
                        number,
                        demand instanceof Demand.Shared ? Kind.SHARED.text : "",
                        key);
        return seen.stream().findFirst();
    }

    /** Adds a ticket, and returns its number. */
    public long addTicket(Session session, Ticket ticket, String state) throws SQLException {
        return session.updateReturningKey(
                        text("""
                INSERT INTO {ticket} (name, owner, state, kind, permits, total, token, since, ttl, expires_at, renewals, origin)
                VALUES (?, ?, ?, ?, ?, ?, 0, {now}, ?, {now} + ?, 0, ?)"""),
                        "number",
                        name(ticket.name()),
                        ticket.owner().toString(),
                        state,
                        Kind.of(ticket.demand()).text,
                        Kind.permits(ticket.demand()),
                        Kind.total(ticket.demand()),
                        micros(ticket.ttl()),
                        micros(ticket.ttl()),
                        OriginText.write(ticket.origin()))
                .orElseThrow();
    }

    /** Grants a lock to a ticket in the table, if it may be. */
    public Optional<Long> grant(Session session, Ticket ticket) throws SQLException {
        String owner = ticket.owner().toString();
        Demand demand = ticket.demand();
        if (demand instanceof Demand.Exclusive) {
            return takeQueued.run(session, owner, new Values(alone(ticket), List.of(), List.of()));
        }
        int permits = Kind.permits(demand);
        int total = Kind.total(demand);
        String kind = Kind.of(demand).text;
        return join.run(
                session,
                owner,
                new Values(
                        List.of(total, total, permits, kind),
                        List.of(kind, permits, total),
                        List.of(micros(ticket.ttl()))));
    }

    /** Ends what one of several holders has; false if it is none any more. */
    public boolean leave(Session session, String owner, int permits) throws SQLException {
        boolean left = leave.run(session, owner, new Values(List.of(permits), List.of(permits), List.of()))
                .isPresent();
        if (left) {
            forgetEnded(session, owner);
        }
        return left;
    }

    /** Ends an exclusive grant; whether its owner still had it. */
    public boolean release(Session session, Ticket ticket, Duration linger) throws SQLException {
        String owner = ticket.owner().toString();
        if (linger.isZero() || linger.isNegative()) {
            return changes(session, """
                    UPDATE {lock} l SET owner = NULL, origin = NULL, taken = 0, expires_at = 0
                    WHERE l.name = ? AND l.owner = ? AND l.expires_at > {now} {briefly}""", name(ticket.name()), owner);
        }
        return changes(session, """
                UPDATE {lock} l SET owner = NULL, origin = NULL, expires_at = {now} + ?
                WHERE l.name = ? AND l.owner = ? AND l.expires_at > {now} {briefly}""", micros(linger), name(ticket.name()), owner);
    }

    /** Lets what one of several holders has stay taken for a while, by nobody. */
    public boolean linger(Session session, String owner, Duration stays) throws SQLException {
        return changes(session, """
                UPDATE {ticket} t SET owner = CONCAT('after-', t.owner), expires_at = {now} + ?, origin = NULL
                WHERE t.owner = ? AND t.state = 'held' AND t.expires_at > {now} {briefly}""", micros(stays), owner);
    }

    /** Removes whatever a ticket may have left, in time or not; false if there was nothing. */
    public boolean withdraw(Session session, Ticket ticket) throws SQLException {
        String owner = ticket.owner().toString();
        // The ticket first: without it a request that is still under way at the server comes to nothing.
        boolean removed = removeUnlessHeld(session, owner);
        removed |= ticket.demand() instanceof Demand.Exclusive && changes(session, """
                UPDATE {lock} l SET owner = NULL, origin = NULL, taken = 0, expires_at = 0
                WHERE l.name = ? AND l.owner = ? {briefly}""", name(ticket.name()), owner);
        if (!removed) {
            // Also if it was to hold the lock alone: whether it was downgraded may be what is not known.
            removed = leave(session, owner, Kind.permits(ticket.demand()));
            // If its time was over it was nobody's already.
            remove(session, owner);
        }
        return removed;
    }

    /** Where a statement could not delete the ticket it ended. What it did stands: if this fails, a sweep does it. */
    public boolean forgetEnded(Session session, String owner) {
        try {
            return dialect == Dialect.MYSQL
                    && changes(session, "DELETE FROM {ticket} WHERE owner = ? AND state = 'ended'", owner);
        } catch (SQLException e) {
            LOG.log(Level.DEBUG, () -> "The ended ticket of " + owner + " was not removed: " + e);
            return false;
        }
    }

    /** Deletes a ticket that is not counted in its lock's row. */
    public boolean removeUnlessHeld(Session session, String owner) throws SQLException {
        return changes(session, "DELETE FROM {ticket} WHERE owner = ? AND state <> 'held' {briefly}", owner);
    }

    /** Deletes a ticket; if it was counted in its lock's row, that is put right by the next one it is in the way of. */
    public boolean remove(Session session, String owner) throws SQLException {
        return changes(session, "DELETE FROM {ticket} WHERE owner = ? {briefly}", owner);
    }

    /** Makes an exclusive grant whose time is over as if released, so that others may join. */
    public boolean clearExpired(Session session, String name) throws SQLException {
        return changes(session, """
                UPDATE {lock} l SET owner = NULL, origin = NULL, taken = 0, expires_at = 0
                WHERE l.name = ? AND l.kind = 'exclusive' AND l.taken > 0 AND l.expires_at <= {now} {briefly}""", name(name));
    }

    /** Whether a ticket is one of several holders, as after an earlier downgrade whose answer was lost. */
    public boolean isHeld(Session session, Ticket ticket) throws SQLException {
        return !session.query(
                        text("SELECT 1 FROM {ticket} t WHERE t.owner = ? AND t.state = 'held'"),
                        row -> true,
                        ticket.owner().toString())
                .isEmpty();
    }

    /** The exclusive grant goes on as a shared one; its ticket must be there. */
    public boolean downgrade(Session session, Ticket exclusive) throws SQLException {
        String owner = exclusive.owner().toString();
        return downgrade
                .run(
                        session,
                        owner,
                        new Values(List.of(Integer.MAX_VALUE), List.of(owner), List.of(micros(exclusive.givenTtl()))))
                .isPresent();
    }

    /** From now on tokens are larger than that. */
    public boolean raise(Session session, String name, long floor) throws SQLException {
        return changes(
                session,
                "UPDATE {lock} l SET token = ?, renewals = renewals + 1 WHERE l.name = ? AND l.token < ? {briefly}",
                floor,
                name(name),
                floor);
    }

    /** Whether it changed a row. */
    private boolean changes(Session session, String template, Object... values) throws SQLException {
        return session.update(text(template), values) == 1;
    }

    /** A lock name as a value to bind. */
    public Object name(String name) {
        return dialect.bindable(name);
    }

    /** As many question marks as there are values, in place of {@code {some}}. */
    public static String forMany(String sql, int values) {
        return sql.replace("{some}", String.join(", ", Collections.nCopies(values, "?")));
    }

    /** One value, then many. */
    static Object[] values(List<?> many, Object... first) {
        Object[] all = Arrays.copyOf(first, first.length + many.size());
        for (int i = 0; i < many.size(); i++) {
            all[first.length + i] = many.get(i);
        }
        return all;
    }

    /** Rounded up: the store keeps a lock no shorter than it was asked to. */
    public static long micros(Duration duration) {
        return (duration.toNanos() + 999) / 1000;
    }

    public static Duration ofMicros(long micros) {
        return Duration.ofNanos(Math.max(0, micros) * 1000);
    }

    /** Puts in the names of the tables and what the server calls things. */
    public String text(String template) {
        return texts.computeIfAbsent(template, this::fill);
    }

    private String fill(String template) {
        return template.replace("{free}", "(l.taken = 0 OR l.expires_at <= {now})")
                // What lies further ahead than its ttl is from before the server's clock was set back. A second more,
                // for MySQL's
                // statements have the time of their beginning, and find tickets that were renewed after it.
                .replace("{alive}", "t.expires_at > {now} AND t.expires_at <= {now} + t.ttl + 1000000")
                .replace("{mint}", dialect.minting("GREATEST(l.token + 1, {now})"))
                .replace("{first}", dialect.minting("{now}"))
                .replace("{given}", dialect.minting("?"))
                .replace("{briefly}", dialect.waitingBriefly())
                .replace("{forever}", Long.toString(FOREVER))
                .replace("{counted}", Integer.toString(COUNTED_AHEAD + 1))
                .replace("{lock}", table.text())
                .replace("{ticket}", table.text() + Schema.TICKET)
                .replace("{length}", dialect.nameLength())
                .replace("{now}", dialect.now());
    }
}
