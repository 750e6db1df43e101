package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.LeaseLostException;
import io.holdfast.jdbc.LockSql.Kind;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Request;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One lock held by several: shared or by permits, seen and changed inside a transaction that has its row locked. Used by
 * one thread.
 */
final class Crowd {

    /*
     * The row of a lock says until when it is held by anybody; members say by whom. Two rules keep the exclusive path at one
     * statement that never looks at the members:
     *
     *   1. A member never outlives the row: member.expires_at <= row.expires_at. Joining and renewing move the row first and
     *      cut the member to it. (Computing both from the clock by themselves broke this: the client paused between the two
     *      statements, the member got a second more than the row, an exclusive request took the expired row, and the member
     *      was renewed in that second.)
     *   2. Who takes the row alone leaves dead members behind: they are expired, by rule 1, and expired members neither count
     *      nor are renewed. The next one to join clears them away.
     *
     * Wishes. There is no line to stand in, so a stream of readers could keep a writer out for ever, and the other way round.
     * A waiter who is refused because the lock is held in another way than it needs leaves a wish in the row, for a second at
     * a time: what kind it wants. While a wish stands, only that kind may join or take the lock; granting it ends the wish. A
     * holder's own kind never wishes (a writer refused by a writer), so wishes alternate between the kinds and nobody starves.
     * Requests for permits can also starve among themselves (three at once, in a stream of ones): there a wish counts for the
     * client that left it. Only who waits may wish: a single try leaves no trace.
     */

    /** Longer than waiters pause between two tries. Whoever dies waiting keeps others out no longer than this. */
    static final long WISH_MICROS = LockSql.micros(Duration.ofSeconds(1));

    private record Member(String owner, int permits, int total, long expiresAt) {}

    private record Row(
            Kind kind,
            long token,
            long expiresAt,
            @Nullable String wantedKind,
            @Nullable String wantedBy,
            long wantedUntil,
            @Nullable String owner) {}

    private record Reading(long now, @Nullable Member member) {}

    private final Session session;
    private final LockSql sql;
    private final String name;
    private final Row row;
    private final List<Member> everyone;
    private final List<Member> members;
    private final long now;

    private Crowd(Session session, LockSql sql, String name, Row row, List<Reading> readings) {
        this.session = session;
        this.sql = sql;
        this.name = name;
        this.row = row;
        // Read after the row was locked: waiting for it may have taken long.
        this.now = readings.get(0).now();
        this.everyone =
                readings.stream().map(Reading::member).filter(Objects::nonNull).toList();
        this.members = row.kind() == Kind.EXCLUSIVE
                ? List.of()
                : everyone.stream().filter(member -> member.expiresAt() > now).toList();
    }

    /** Locks the row of a lock, if it has one, until the transaction ends. */
    static Optional<Crowd> lock(Session session, LockSql sql, String name) throws SQLException {
        List<Row> rows = session.query(
                sql.lockRow,
                found -> new Row(
                        Kind.parse(found.getString(1)),
                        found.getLong(2),
                        found.getLong(3),
                        found.getString(4),
                        found.getString(5),
                        found.getLong(6),
                        found.getString(7)),
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
        return Optional.of(new Crowd(session, sql, name, rows.get(0), readings));
    }

    /** Lets a request in if it may share the lock with those who hold it now. */
    Answer join(Request request, Patience patience, long baseNanos) throws SQLException {
        Kind kind = Kind.of(request.demand());
        boolean held = row.expiresAt() > now;
        if (held && row.kind() != kind) {
            wish(kind, request, patience);
            return refused(row.expiresAt(), "it is held " + row.kind().text);
        }
        if (isWantedOtherwise(kind, request)) {
            return refused(row.wantedUntil(), "somebody waits for it who needs it " + row.wantedKind());
        }
        if (request.demand() instanceof Demand.Permits permits && !fits(permits)) {
            wish(kind, request, patience);
            long soonest = members.stream().mapToLong(Member::expiresAt).min().orElse(now);
            return refused(soonest, "too few permits are left");
        }
        return new Answer.Granted(admit(request, kind, baseNanos));
    }

    /** Whether a waiter may leave a wish. */
    enum Patience {
        ASKS_ONCE,
        WAITS
    }

    private Grant admit(Request request, Kind kind, long baseNanos) throws SQLException {
        long token = Math.max(row.token() + 1, now);
        long expiresAt = now + LockSql.micros(request.ttl());
        int permits = request.demand() instanceof Demand.Permits some ? some.count() : 1;
        int total = request.demand() instanceof Demand.Permits some ? some.total() : 0;
        if (everyone.size() > members.size()) {
            // Of a crowd that is over all are dead, whatever their time says.
            session.update(sql.removeExpiredMembers, sql.name(name), members.isEmpty() ? Long.MAX_VALUE : now);
        }
        session.update(
                sql.setCrowd,
                kind.text,
                token,
                now,
                Math.max(expiresAt, lastExpiry(members)),
                row.wantedKind() != null && row.wantedKind().equals(kind.text) ? 0L : row.wantedUntil(),
                sql.name(name));
        addMember(request, permits, total, token, expiresAt);
        return new Grant(request, token, request.ttl(), baseNanos);
    }

    private void addMember(Request request, int permits, int total, long token, long expiresAt) throws SQLException {
        session.update(
                sql.addMember,
                sql.name(name),
                request.owner().toString(),
                permits,
                total,
                token,
                now,
                expiresAt,
                Origins.write(request.origin()));
    }

    private boolean fits(Demand.Permits wanted) {
        long taken = wanted.count();
        int smallestTotal = wanted.total();
        for (Member member : members) {
            taken += member.permits();
            smallestTotal = Math.min(smallestTotal, member.total());
        }
        return taken <= smallestTotal;
    }

    private boolean isWantedOtherwise(Kind kind, Request request) {
        if (row.wantedUntil() <= now || row.wantedKind() == null) {
            return false;
        }
        return !row.wantedKind().equals(kind.text)
                || (kind == Kind.PERMITS && !request.owner().client().equals(row.wantedBy()));
    }

    private void wish(Kind kind, Request request, Patience patience) throws SQLException {
        if (patience == Patience.WAITS && !isWantedOtherwise(kind, request)) {
            session.update(sql.wishWhileLocked, kind.text, request.owner().client(), now + WISH_MICROS, sql.name(name));
        }
    }

    private Answer refused(long until, String reason) {
        return new Answer.Refused(Optional.of(LockSql.ofMicros(until - now)), reason);
    }

    /** A member leaves, or stays as nobody for a while. */
    ReleaseAnswer leave(Request request, Duration linger) throws SQLException {
        String owner = request.owner().toString();
        boolean there = members.stream().anyMatch(member -> member.owner().equals(owner));
        if (!there) {
            return ReleaseAnswer.NOT_HELD;
        }
        long lingersUntil = now + LockSql.micros(linger);
        if (linger.isZero() || linger.isNegative()) {
            session.update(sql.removeMember, sql.name(name), owner);
        } else {
            session.update(sql.lingerMember, lingersUntil, sql.name(name), owner);
        }
        List<Member> others =
                members.stream().filter(member -> !member.owner().equals(owner)).toList();
        session.update(sql.setExpiry, Math.max(lingersUntil, lastExpiry(others)), sql.name(name));
        return ReleaseAnswer.RELEASED;
    }

    /** Turns the exclusive holder into the first member. */
    Grant downgrade(Grant exclusive) throws SQLException {
        Request before = exclusive.request();
        if (row.kind() != Kind.EXCLUSIVE
                || row.expiresAt() <= now
                || !before.owner().toString().equals(row.owner())) {
            throw new LeaseLostException(name, exclusive.token(), "the store no longer has it for this owner");
        }
        Request shared = new Request(name, before.owner(), Demand.shared(), before.ttl(), before.origin());
        session.update(sql.removeMembers, sql.name(name));
        session.update(sql.becomeShared, sql.name(name));
        addMember(shared, 1, 0, exclusive.token(), row.expiresAt());
        return new Grant(shared, exclusive.token(), exclusive.ttl(), exclusive.baseNanos(), exclusive.handle());
    }

    /** An administrator ends it for everybody. Returns how many held it. */
    int disperse() throws SQLException {
        boolean exclusive = row.kind() == Kind.EXCLUSIVE && row.expiresAt() > now && row.owner() != null;
        session.update(sql.removeMembers, sql.name(name));
        session.update(sql.seize, sql.name(name));
        return exclusive ? 1 : members.size();
    }

    private long lastExpiry(List<Member> some) {
        return some.stream().mapToLong(Member::expiresAt).max().orElse(now);
    }
}
