package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.support.OriginText;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** The statements, for one dialect and one table. Times in them are microseconds of the server's clock. Immutable. */
final class LockSql {

    /** How a row is held, as its {@code kind} column says. */
    enum Kind {
        EXCLUSIVE,
        SHARED,
        PERMITS;

        final String text = name().toLowerCase(Locale.ROOT);

        char letter() {
            return text.charAt(0);
        }

        static Kind ofLetter(char letter) {
            return switch (letter) {
                case 'e' -> EXCLUSIVE;
                case 's' -> SHARED;
                default -> PERMITS;
            };
        }

        static Kind of(Demand demand) {
            if (demand instanceof Demand.Exclusive) {
                return EXCLUSIVE;
            }
            return demand instanceof Demand.Shared ? SHARED : PERMITS;
        }

        static Kind parse(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }
    }

    /** Takes the lock if it is free and nobody stands before this client in line (see {@link Line}). */
    private static final String TAKE = """
            UPDATE {lock} SET kind = 'exclusive', owner = ?, token = {mint}, acquired_at = {now}, expires_at = {now} + ?,
                renewals = 0, origin = ?,
                line = CASE WHEN SUBSTRING(line, 1, {who}) = ? THEN SUBSTRING(line, {place} + 1) ELSE '' END
            WHERE name = ? AND expires_at <= {now}
                AND (line = '' OR SUBSTRING(line, 1, {who}) = ? OR NOT {waited})""";

    /** Takes the lock for one of the relay, which goes to the end of the line to stay there for the next one. */
    private static final String TAKE_IN_RELAY = """
            UPDATE {lock} SET kind = 'exclusive', owner = ?, token = {mint}, acquired_at = {now}, expires_at = {now} + ?,
                renewals = 0, origin = ?,
                line = CONCAT(CASE WHEN SUBSTRING(line, 1, {who}) = ? THEN SUBSTRING(line, {place} + 1) ELSE '' END,
                    CAST(? AS CHAR({who})), {now} + {kept}), line_until = {now} + {kept}
            WHERE name = ? AND expires_at <= {now}
                AND (line = '' OR SUBSTRING(line, 1, {who}) = ? OR NOT {waited})""";

    /** Queues behind those who hold the lock or wait for it; not if it is free, the line is full, or the client is in it. */
    private static final String STAND = """
            UPDATE {lock} SET line = CONCAT(line, CAST(? AS CHAR({who})), {now} + {kept}), line_until = {now} + {kept},
                renewals = renewals + 1
            WHERE name = ? AND (expires_at > {now} OR (line <> '' AND {waited}))
                AND LENGTH(line) < {line} AND POSITION(? IN line) = 0""";

    /** Keeps a place where it is, even if it has lapsed. */
    private static final String KEEP_PLACE = """
            UPDATE {lock} SET line = CONCAT(SUBSTRING(line, 1, POSITION(? IN line) - 1), CAST(? AS CHAR({who})), {now} + {kept},
                    SUBSTRING(line, POSITION(? IN line) + {place})),
                line_until = {now} + {kept}, renewals = renewals + 1
            WHERE name = ? AND POSITION(? IN line) > 0""";

    /** As {@link Sight#read} wants it. */
    private static final String SIGHT = "kind, expires_at, line, token, {now}";

    private static final String CREATE_TAKEN = """
            INSERT INTO {lock} (name, kind, owner, token, acquired_at, expires_at, renewals, line, line_until, origin)
            VALUES (?, 'exclusive', ?, {first}, {now}, {now} + ?, 0, '', 0, ?)""";

    private static final String CREATE_FREE = """
            INSERT INTO {lock} (name, kind, token, acquired_at, expires_at, renewals, line, line_until)
            VALUES (?, 'exclusive', ?, {now}, 0, 0, '', 0)""";

    private static final String LOCK_MEMBERS = """
            SELECT h.owner, h.expires_at, l.expires_at, {now}{limited} FROM {lock} l JOIN {holder} h ON h.name = l.name
            WHERE %sl.name IN ({names}) AND h.owner IN ({owners}) AND l.kind <> 'exclusive' FOR UPDATE""";

    private final Dialect dialect;
    private final String home;
    private final Schema schema;
    private final TableName table;
    private final String take;
    private final String takeInRelay;
    private final String stand;
    private final String keepPlace;
    private final String dropFirst;
    private final String createTaken;
    final String createFree;

    /** What stands in the way: kind, until when, the line, and the server's time. */
    final String look;

    private final String release;
    private final String releaseWithBaton;
    final String withdraw;

    private final String renewAtOnce;
    private final String renewSoon;

    final String setLine;
    final String takeLocked;
    final String lockRow;
    final String members;
    final String addMember;
    final String removeMember;
    final String lingerMember;
    final String removeExpiredMembers;
    final String setCrowd;
    final String setExpiry;

    private final String lockMembersAtOnce;
    private final String lockMembersSoon;
    final String renewCrowds;
    final String renewMembers;
    final String becomeShared;
    final String seize;
    final String removeMembers;
    final String raise;
    final String prune;
    final String pruneMembers;
    final String viewRow;
    final String viewRows;

    /** @param home where the table is, if its name does not say it */
    LockSql(Dialect dialect, String home, TableName table, Schema schema) {
        this.dialect = dialect;
        this.home = home;
        this.schema = schema;
        this.table = table;
        boolean mysql = dialect == Dialect.MYSQL;
        String mint = "GREATEST(token + 1, {now})";
        UnaryOperator<String> minting = sql -> text(
                mysql
                        ? sql.replace("{mint}", "LAST_INSERT_ID(" + mint + ")")
                        : sql.replace("{mint}", mint) + " RETURNING token");
        take = minting.apply(TAKE);
        takeInRelay = minting.apply(TAKE_IN_RELAY);
        keepPlace = text(KEEP_PLACE);
        dropFirst = text("""
                UPDATE {lock} SET line = SUBSTRING(line, {place} + 1), renewals = renewals + 1
                WHERE name = ? AND SUBSTRING(line, 1, {place}) = ?""");
        stand = text(mysql ? STAND : STAND + " RETURNING " + SIGHT);
        createTaken = mysql
                ? dialect.insertUnlessThere(text(CREATE_TAKEN.replace("{first}", "LAST_INSERT_ID({now})")))
                : dialect.insertUnlessThere(text(CREATE_TAKEN.replace("{first}", "{now}"))) + " RETURNING token";
        createFree = dialect.insertUnlessThere(text(CREATE_FREE));
        look = text("SELECT " + SIGHT + " FROM {lock} WHERE name = ?");
        String free = """
                UPDATE {lock} SET owner = NULL, expires_at = CASE WHEN ? > 0 THEN {now} + ? ELSE 0 END
                WHERE name = ? AND owner = ? AND expires_at > {now}""";
        // The first in line is told in the same breath; without a line no notification is made.
        String freeAndTell = """
                WITH freed AS (%s RETURNING name, line, SUBSTRING(line, 1, %d) AS first)
                SELECT CASE WHEN %%s THEN CAST(pg_notify('%s' || first, name) AS text) END
                FROM freed""".formatted(free, Line.CLIENT_LENGTH, PostgresBell.channel(""));
        release = text(mysql ? free : freeAndTell.formatted("first <> ''"));
        releaseWithBaton = text(mysql ? free : freeAndTell.formatted("first NOT IN ('', '" + Line.RELAY + "')"));
        withdraw = text("""
                UPDATE {lock} SET owner = NULL, expires_at = 0 WHERE name = ? AND owner = ?""");
        renewAtOnce = text(renew(dialect, Dialect.MARIADB_AT_ONCE, "", "NOWAIT"));
        renewSoon = text(renew(dialect, Dialect.MARIADB_SOON, Dialect.POSTGRESQL_SOON, ""));
        setLine = text("UPDATE {lock} SET line = ?, line_until = ?, renewals = renewals + 1 WHERE name = ?");
        takeLocked = text("""
                UPDATE {lock} SET kind = 'exclusive', owner = ?, token = ?, acquired_at = ?, expires_at = ?, renewals = 0,
                    line = ?, line_until = ?, origin = ? WHERE name = ?""");
        lockRow = text("""
                SELECT kind, token, expires_at, line, owner{limited}
                FROM {lock} WHERE name = ? FOR UPDATE""");
        members = text("""
                SELECT clock.micros, h.owner, h.permits, h.total, h.expires_at
                FROM (SELECT {now} AS micros) clock LEFT JOIN {holder} h ON h.name = ?""");
        addMember = text("""
                INSERT INTO {holder} (name, owner, permits, total, token, acquired_at, expires_at, renewals, origin)
                VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)""");
        removeMember = text("DELETE FROM {holder} WHERE name = ? AND owner = ?");
        lingerMember = text("""
                UPDATE {holder} SET owner = CONCAT('after-', owner), expires_at = ?, origin = NULL
                WHERE name = ? AND owner = ?""");
        removeExpiredMembers = text("DELETE FROM {holder} WHERE name = ? AND expires_at <= ?");
        setCrowd = text("""
                UPDATE {lock} SET kind = ?, owner = NULL, token = ?, acquired_at = ?, expires_at = ?,
                    renewals = renewals + 1, line = ?, line_until = ? WHERE name = ?""");
        setExpiry = text("UPDATE {lock} SET expires_at = ?, renewals = renewals + 1 WHERE name = ?");
        lockMembersAtOnce = text(LOCK_MEMBERS.formatted("") + " NOWAIT");
        lockMembersSoon = text(
                mysql
                        ? Dialect.MARIADB_SOON + LOCK_MEMBERS.formatted("")
                        : LOCK_MEMBERS.formatted(Dialect.POSTGRESQL_SOON));
        renewCrowds = text("""
                UPDATE {lock} SET expires_at = GREATEST(expires_at, ?), renewals = renewals + 1 WHERE name IN ({names})""");
        renewMembers = text("""
                UPDATE {holder} SET expires_at = GREATEST(expires_at, ?), renewals = renewals + 1
                WHERE name IN ({names}) AND owner IN ({owners})""");
        becomeShared = text("""
                UPDATE {lock} SET kind = 'shared', owner = NULL, origin = NULL WHERE name = ?""");
        seize = text("""
                UPDATE {lock} SET owner = NULL, token = GREATEST(token + 1, {now}), expires_at = 0
                WHERE name = ?""");
        removeMembers = text("DELETE FROM {holder} WHERE name = ?");
        raise = text("UPDATE {lock} SET token = ?, renewals = renewals + 1 WHERE name = ? AND token < ?");
        // Not those whose tokens the clock has not reached yet: it would give them again.
        prune = text("""
                DELETE FROM {lock} WHERE expires_at <= {now} - ? AND acquired_at <= {now} - ? AND token <= {now} - ?
                    AND (line = '' OR NOT {waited})""");
        pruneMembers = text("DELETE FROM {holder} WHERE expires_at <= {now}");
        String view = """
                SELECT l.name, l.kind, l.owner, l.token, l.acquired_at, l.expires_at, l.origin,
                    h.owner, h.permits, h.total, h.token, h.acquired_at, h.expires_at, h.origin, clock.micros
                FROM (SELECT {now} AS micros) clock JOIN {some} l ON l.expires_at > clock.micros
                LEFT JOIN {holder} h ON h.name = l.name AND l.kind <> 'exclusive' AND h.expires_at > clock.micros
                """;
        String page = """
                (SELECT name, kind, owner, token, acquired_at, expires_at, origin FROM {lock}
                WHERE name >= ? AND LEFT(name, {length}) = ? AND name > ? AND expires_at > {now} ORDER BY name LIMIT ?)""";
        viewRow = text(view.replace("{some}", "{lock}") + "WHERE l.name = ? ORDER BY h.token");
        viewRows = text(view.replace("{some}", page) + "ORDER BY l.name, h.token");
    }

    /**
     * PostgreSQL says whom it has renewed.
     *
     * @param mariaDb how MariaDB waits for rows
     * @param condition how PostgreSQL does, before it locks a row
     * @param locking the same, as it does it
     */
    private static String renew(Dialect dialect, String mariaDb, String condition, String locking) {
        String extend =
                "UPDATE {lock} SET expires_at = GREATEST(expires_at, {now} + ?), renewals = renewals + 1 WHERE ";
        String held = "name IN ({names}) AND owner IN ({owners}) AND expires_at > {now}";
        return dialect == Dialect.MYSQL
                ? mariaDb + extend + held
                : extend + "name = ANY (ARRAY(SELECT name FROM {lock} WHERE " + condition + held + " FOR UPDATE "
                        + locking + ")) RETURNING owner";
    }

    Schema schema() {
        return schema;
    }

    /**
     * Takes a free lock; empty if the lock is taken, others are first, or it has no row.
     *
     * @param client in whose place in line, which is used up
     * @param baseNanos just before
     */
    Optional<Answer.Taken> take(Session session, Ticket ticket, String client, long baseNanos) throws SQLException {
        return granted(
                session,
                ticket,
                baseNanos,
                take,
                ticket.owner().toString(),
                micros(ticket.ttl()),
                OriginText.write(ticket.origin()),
                Line.who(client, Kind.EXCLUSIVE),
                name(ticket.name()),
                Line.who(client, Kind.EXCLUSIVE));
    }

    /** The same in the place of the relay, which is kept. */
    Optional<Answer.Taken> takeInRelay(Session session, Ticket ticket, long baseNanos) throws SQLException {
        String relay = Line.who(Line.RELAY, Kind.EXCLUSIVE);
        return granted(
                session,
                ticket,
                baseNanos,
                takeInRelay,
                ticket.owner().toString(),
                micros(ticket.ttl()),
                OriginText.write(ticket.origin()),
                relay,
                relay,
                name(ticket.name()),
                relay);
    }

    /** The session lock that goes with a lock. */
    BatonSql baton(String name) {
        return new BatonSql(dialect, home, table, name);
    }

    /** Stands in line for a lock that others hold or wait for, and returns how it looks now; empty if that was not to be done. */
    Optional<Sight> stand(Session session, Ticket ticket, String client) throws SQLException {
        String who = Line.who(client, Kind.EXCLUSIVE);
        Object[] values = {who, name(ticket.name()), who};
        if (dialect == Dialect.POSTGRESQL) {
            return session.updateReturning(stand, Sight::read, values).stream().findFirst();
        }
        return session.update(stand, values) == 1 ? Sight.of(session, this, ticket.name()) : Optional.empty();
    }

    /** Keeps the client's place in line where it is; false if it has none. */
    boolean keepPlace(Session session, Ticket ticket, String client) throws SQLException {
        String who = Line.who(client, Kind.EXCLUSIVE);
        return session.update(keepPlace, who, who, who, name(ticket.name()), who) == 1;
    }

    /** Clears away the first place in line, if it still is the one that was seen. */
    void dropFirst(Session session, Ticket ticket, Sight seen) throws SQLException {
        session.update(dropFirst, name(ticket.name()), seen.line().substring(0, Line.PLACE_LENGTH));
    }

    /** Adds the row of a lock never used before, taken at once; empty if somebody else was faster. */
    Optional<Answer.Taken> createTaken(Session session, Ticket ticket, long baseNanos) throws SQLException {
        return granted(
                session,
                ticket,
                baseNanos,
                createTaken,
                name(ticket.name()),
                ticket.owner().toString(),
                micros(ticket.ttl()),
                OriginText.write(ticket.origin()));
    }

    /** Runs a statement that mints a token, if it does anything. */
    private Optional<Answer.Taken> granted(Session session, Ticket ticket, long baseNanos, String sql, Object... values)
            throws SQLException {
        Optional<Long> token = dialect == Dialect.MYSQL
                ? session.updateReturningInsertId(sql, values)
                : session.updateReturning(sql, row -> row.getLong(1), values).stream()
                        .findFirst();
        return token.map(minted -> new Answer.Taken(minted, baseNanos));
    }

    /** Ends an exclusive grant; whether its owner still had it. */
    boolean release(Session session, Ticket ticket, Duration linger) throws SQLException {
        return release(release, session, ticket, linger);
    }

    /** The same for one that has the baton, who tells the relay by passing it on. */
    boolean releaseWithBaton(Session session, Ticket ticket, Duration linger) throws SQLException {
        return release(releaseWithBaton, session, ticket, linger);
    }

    private boolean release(String sql, Session session, Ticket ticket, Duration linger) throws SQLException {
        long stays = micros(linger);
        Object[] values = {stays, stays, name(ticket.name()), ticket.owner().toString()};
        return dialect == Dialect.MYSQL
                ? session.update(sql, values) == 1
                : !session.updateReturning(sql, row -> true, values).isEmpty();
    }

    /** Tells clients that it is their turn, when the transaction commits; does nothing where the server cannot. */
    void tell(Session session, List<String> clients, String name) throws SQLException {
        if (dialect == Dialect.POSTGRESQL) {
            for (String client : clients) {
                session.query("SELECT pg_notify(?, ?)", row -> true, PostgresBell.channel(client), name);
            }
        }
    }

    Dialect dialect() {
        return dialect;
    }

    /** A lock name as a value to bind. */
    Object name(String name) {
        return dialect.bindable(name);
    }

    String readName(ResultSet row, int column) throws SQLException {
        return dialect == Dialect.MYSQL
                ? new String(row.getBytes(column), java.nio.charset.StandardCharsets.UTF_8)
                : row.getString(column);
    }

    /**
     * Extends those of many leases that are still held.
     *
     * @param wait how long to wait for rows that others have locked
     */
    String renew(int leases, Duration wait) {
        return forMany(wait.isZero() ? renewAtOnce : waiting(renewSoon, wait), leases);
    }

    /** Owner, expiry, the row's expiry and the server's time of many members, locked with their rows. */
    String lockMembers(int members, Duration wait) {
        return forMany(wait.isZero() ? lockMembersAtOnce : waiting(lockMembersSoon, wait), members);
    }

    private static String waiting(String sql, Duration wait) {
        return sql.replace("{wait}", String.format(Locale.ROOT, "%d.%03d", wait.toSeconds(), wait.toMillisPart()));
    }

    /** Fills in as many question marks as there are values. */
    static String forMany(String sql, int names) {
        String marks = String.join(", ", Collections.nCopies(names, "?"));
        return sql.replace("{names}", marks).replace("{owners}", marks);
    }

    /** Rounded up: the store keeps a lock no shorter than it was asked to. */
    static long micros(Duration duration) {
        return (duration.toNanos() + 999) / 1000;
    }

    static Duration ofMicros(long micros) {
        return Duration.ofNanos(Math.max(0, micros) * 1000);
    }

    private String text(String template) {
        // Somebody in line asked lately; what lies further ahead is from before the server's clock was set back.
        return template.replace("{waited}", "(line_until > {now} AND line_until <= {now} + {longest})")
                .replace("{longest}", Long.toString(micros(Line.LONGEST_KEPT)))
                .replace("{kept}", Long.toString(micros(Line.KEPT)))
                .replace("{lock}", table.text())
                .replace("{holder}", table.text() + "_holder")
                .replace("{who}", Integer.toString(Line.WHO_LENGTH))
                .replace("{place}", Integer.toString(Line.PLACE_LENGTH))
                .replace("{line}", Integer.toString(Line.LONGEST * Line.PLACE_LENGTH))
                .replace("{length}", dialect.nameLength())
                .replace("{limited}", dialect.limitingIdleTime())
                .replace("{now}", dialect.now());
    }
}
