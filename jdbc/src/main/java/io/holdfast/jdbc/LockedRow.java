package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.jdbc.LockSql.Kind;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.support.OriginText;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One lock, seen and changed inside a transaction that has its row locked. Used by one thread. */
final class LockedRow {

    /*
     * The row of a lock says until when it is held by anybody; if it is shared or its permits are out, members say by whom.
     * Two rules keep the exclusive path at one statement that never looks at the members:
     *
     *   1. A member never outlives the row: member.expires_at <= row.expires_at. Joining and renewing move the row first and
     *      cut the member to it. (Computing both from the clock by themselves broke this: the client paused between the two
     *      statements, the member got a second more than the row, an exclusive request took the expired row, and the member
     *      was renewed in that second.)
     *   2. Who takes the row alone leaves dead members behind: they are expired, by rule 1, and expired members neither count
     *      nor are renewed. The next one to join clears them away.
     */

    /** Not the time of the release: the server's clock may be set back, and the lock would be taken again, by nobody. */
    private static final long FREE = 0;

    private record Row(
            Kind kind,
            long token,
            long expiresAt,
            String line,
            @Nullable String owner) {}

    private record Member(String owner, int permits, int total, long expiresAt) {}

    private record Reading(long now, @Nullable Member member) {}

    private final Session session;
    private final LockSql sql;
    private final String name;
    private final Row row;
    private final List<Member> everyone;
    private final List<Member> members;
    private final Line line;
    private final long now;

    private LockedRow(Session session, LockSql sql, String name, Row row, List<Reading> readings, boolean relayIsOver) {
        this.session = session;
        this.sql = sql;
        this.name = name;
        this.row = row;
        // Read after the row was locked: waiting for it may have taken long.
        this.now = readings.get(0).now();
        this.line = relayIsOver ? Line.parse(row.line(), now).withoutClient(Line.RELAY) : Line.parse(row.line(), now);
        this.everyone =
                readings.stream().map(Reading::member).filter(Objects::nonNull).toList();
        this.members = row.kind() == Kind.EXCLUSIVE
                ? List.of()
                : everyone.stream().filter(member -> member.expiresAt() > now).toList();
    }

    /** Locks the row of a lock, if it has one, until the transaction ends. */
    static Optional<LockedRow> lock(Session session, LockSql sql, String name) throws SQLException {
        List<Row> rows = session.query(
                sql.lockRow,
                found -> new Row(
                        Kind.parse(found.getString(1)),
                        found.getLong(2),
                        found.getLong(3),
                        found.getString(4),
                        found.getString(5)),
                sql.name(name));
        if (rows.isEmpty()) {
            return Optional.empty();
        }
        List<Reading> readings = session.query(
                sql.members,
                found -> new Reading(
                        found.getLong(1),
                        found.getString(2) == null
                                ? null
                                : new Member(found.getString(2), found.getInt(3), found.getInt(4), found.getLong(5))),
                sql.name(name));
        boolean relayIsOver =
                rows.get(0).line().startsWith(Line.RELAY) && sql.baton(name).isFree(session.connection());
        return Optional.of(new LockedRow(session, sql, name, rows.get(0), readings, relayIsOver));
    }

    /** Grants a request if it may hold the lock beside those who do now and it is its client's turn. */
    Optional<Answer.Taken> grant(Ticket ticket, long baseNanos) throws SQLException {
        Kind kind = Kind.of(ticket.demand());
        boolean held = row.expiresAt() > now;
        boolean compatible = !held || (row.kind() == kind && kind != Kind.EXCLUSIVE && fits(ticket.demand()));
        if (!compatible || !line.admits(ticket.owner().client(), kind)) {
            return Optional.empty();
        }
        long token = Math.max(row.token() + 1, now);
        long expiresAt = now + LockSql.micros(ticket.ttl());
        if (kind == Kind.EXCLUSIVE) {
            takeAlone(ticket, token, expiresAt);
        } else {
            join(ticket, kind, token, expiresAt);
        }
        return Optional.of(new Answer.Taken(token, baseNanos));
    }

    private void takeAlone(Ticket ticket, long token, long expiresAt) throws SQLException {
        Line rest = line.without(ticket.owner().client(), Kind.EXCLUSIVE);
        session.update(
                sql.takeLocked,
                ticket.owner().toString(),
                token,
                now,
                expiresAt,
                rest.text(),
                rest.until(),
                OriginText.write(ticket.origin()),
                sql.name(name));
    }

    private void join(Ticket ticket, Kind kind, long token, long expiresAt) throws SQLException {
        if (everyone.size() > members.size()) {
            // Of a crowd that is over all are dead, whatever their time says.
            session.update(sql.removeExpiredMembers, sql.name(name), members.isEmpty() ? Long.MAX_VALUE : now);
        }
        Line rest = line.without(ticket.owner().client(), kind);
        session.update(
                sql.setCrowd,
                kind.text,
                token,
                now,
                Math.max(expiresAt, lastExpiry(members)),
                rest.text(),
                rest.until(),
                sql.name(name));
        int permits = ticket.demand() instanceof Demand.Permits some ? some.count() : 1;
        int total = ticket.demand() instanceof Demand.Permits some ? some.total() : 0;
        addMember(ticket, permits, total, token, expiresAt);
        if (kind == Kind.SHARED && rest.startsWith(Kind.SHARED)) {
            // A release tells the first only: readers right behind it may come in too.
            sql.tell(session, rest.next(), name);
        }
    }

    private void addMember(Ticket ticket, int permits, int total, long token, long expiresAt) throws SQLException {
        session.update(
                sql.addMember,
                sql.name(name),
                ticket.owner().toString(),
                permits,
                total,
                token,
                now,
                expiresAt,
                OriginText.write(ticket.origin()));
    }

    private boolean fits(Demand demand) {
        if (!(demand instanceof Demand.Permits wanted)) {
            return true;
        }
        long taken = wanted.count();
        int smallestTotal = wanted.total();
        for (Member member : members) {
            taken += member.permits();
            smallestTotal = Math.min(smallestTotal, member.total());
        }
        return taken <= smallestTotal;
    }

    /** Takes or keeps a place in line for a while. */
    void standInLine(String client, Kind kind) throws SQLException {
        setLine(line.with(client, kind, now + LockSql.micros(Line.KEPT)));
    }

    void leaveLine(String client) throws SQLException {
        Line rest = line.withoutClient(client);
        if (!rest.text().equals(row.line())) {
            setLine(rest);
        }
    }

    private void setLine(Line changed) throws SQLException {
        session.update(sql.setLine, changed.text(), changed.until(), sql.name(name));
    }

    /** What is in the way of others. */
    Sight sight() {
        long soonest = members.stream().mapToLong(Member::expiresAt).min().orElse(row.expiresAt());
        return new Sight(
                row.kind(), row.kind() == Kind.PERMITS ? soonest : row.expiresAt(), row.line(), row.token(), now);
    }

    Line line() {
        return line;
    }

    /** A member leaves, or stays as nobody for a while. */
    ReleaseAnswer leave(Ticket ticket, Duration linger) throws SQLException {
        String owner = ticket.owner().toString();
        boolean there = members.stream().anyMatch(member -> member.owner().equals(owner));
        if (!there) {
            return ReleaseAnswer.NOT_HELD;
        }
        long lingersUntil = linger.isZero() ? FREE : now + LockSql.micros(linger);
        if (lingersUntil == FREE) {
            session.update(sql.removeMember, sql.name(name), owner);
        } else {
            session.update(sql.lingerMember, lingersUntil, sql.name(name), owner);
        }
        List<Member> others =
                members.stream().filter(member -> !member.owner().equals(owner)).toList();
        session.update(sql.setExpiry, Math.max(lingersUntil, lastExpiry(others)), sql.name(name));
        if (others.isEmpty() || row.kind() == Kind.PERMITS) {
            sql.tell(session, line.next(), name);
        }
        return ReleaseAnswer.RELEASED;
    }

    /** Turns the exclusive holder into the first member. False if it is not the holder any more. */
    boolean downgrade(Ticket exclusive) throws SQLException {
        if (row.kind() != Kind.EXCLUSIVE
                || row.expiresAt() <= now
                || !exclusive.owner().toString().equals(row.owner())) {
            return false;
        }
        session.update(sql.removeMembers, sql.name(name));
        session.update(sql.becomeShared, sql.name(name));
        addMember(exclusive, 1, 0, exclusive.storeToken(), row.expiresAt());
        if (line.startsWith(Kind.SHARED)) {
            sql.tell(session, line.next(), name);
        }
        return true;
    }

    /** An administrator ends it for everybody. Returns how many held it. */
    int disperse() throws SQLException {
        boolean exclusive = row.kind() == Kind.EXCLUSIVE && row.expiresAt() > now && row.owner() != null;
        session.update(sql.removeMembers, sql.name(name));
        session.update(sql.seize, sql.name(name));
        sql.tell(session, line.next(), name);
        return exclusive ? 1 : members.size();
    }

    private long lastExpiry(List<Member> some) {
        return some.stream().mapToLong(Member::expiresAt).max().orElse(FREE);
    }
}
