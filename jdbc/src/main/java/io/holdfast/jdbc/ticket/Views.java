package io.holdfast.jdbc.ticket;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.LockView.Holder;
import io.holdfast.LockView.Waiter;
import io.holdfast.jdbc.row.Kind;
import io.holdfast.jdbc.row.LockSql;
import io.holdfast.jdbc.row.Requests;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore.Page;
import io.holdfast.spi.support.OriginText;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Shows locks, their holders, and those who wait for them in order. Thread-safe. */
public final class Views {

    private static final String COLUMNS = """
            SELECT l.name, l.kind, l.taken, l.owner, l.token, l.acquired_at, l.expires_at, l.origin, clock.micros,
                t.state, t.kind, t.permits, t.total, t.token, t.since, t.expires_at, t.origin, t.owner
            FROM (SELECT {now} AS micros) clock JOIN %s l ON 1 = 1
            LEFT JOIN {ticket} t ON t.name = l.name AND t.state IN ('held', 'waiting') AND t.expires_at > clock.micros
            """;

    private static final String ONE = COLUMNS.formatted("{lock}") + "WHERE l.name = ? ORDER BY t.number";

    private static final String PAGE = COLUMNS.formatted("""
            (SELECT name, kind, taken, owner, token, acquired_at, expires_at, origin FROM {lock} k
            WHERE name >= ? AND LEFT(name, {length}) = ? AND name > ? AND ((taken > 0 AND expires_at > {now}) OR EXISTS (
                SELECT 1 FROM {ticket} q WHERE q.name = k.name AND q.state = 'waiting' AND q.expires_at > {now}))
            ORDER BY name LIMIT ?)""") + "ORDER BY l.name, t.number";

    private final Requests requests;

    public Views(Requests requests) {
        this.requests = requests;
    }

    /** One lock, or the free one of that name. */
    public LockView one(String name, Deadline deadline) {
        List<Row> rows = requests.run(
                name,
                deadline,
                (session, sql) -> session.query(sql.text(ONE), row -> Row.read(sql, row), sql.name(name)));
        return inUse(rows).stream().findFirst().orElseGet(() -> LockView.free(name));
    }

    /** A part of a listing; full if it has so many locks, of which some may be free by now. */
    public Page page(String prefix, Optional<String> after, int limit, Deadline deadline) {
        List<Row> rows = requests.run(
                prefix + "*",
                deadline,
                (session, sql) -> session.query(
                        sql.text(PAGE),
                        row -> Row.read(sql, row),
                        sql.name(prefix),
                        sql.name(prefix),
                        sql.name(prefix),
                        sql.name(after.orElse("")),
                        limit));
        long locks = rows.stream().map(Row::name).distinct().count();
        Optional<String> last = locks < limit
                ? Optional.empty()
                : Optional.of(rows.get(rows.size() - 1).name());
        return new Page(inUse(rows), last);
    }

    private static List<LockView> inUse(List<Row> rows) {
        Map<String, LockView> locks = new LinkedHashMap<>();
        for (Row row : rows) {
            locks.merge(row.name(), new LockView(row.name(), row.holders(), row.waiters()), Views::together);
        }
        return locks.values().stream()
                .filter(lock -> lock.isHeld() || !lock.waiters().isEmpty())
                .toList();
    }

    private static LockView together(LockView one, LockView next) {
        List<Holder> holders = new ArrayList<>(one.holders());
        next.holders().stream().filter(holder -> !holders.contains(holder)).forEach(holders::add);
        List<Waiter> waiters = new ArrayList<>(one.waiters());
        waiters.addAll(next.waiters());
        return new LockView(one.name(), holders, waiters);
    }

    /** A lock, with its exclusive holder if it has one, and one of its tickets if it has any. */
    private record Row(String name, List<Holder> holders, List<Waiter> waiters) {

        static Row read(LockSql sql, ResultSet row) throws SQLException {
            String name = sql.dialect().readName(row, 1);
            long now = row.getLong(9);
            List<Holder> holders = new ArrayList<>();
            if (Kind.parse(row.getString(2)) == Kind.EXCLUSIVE && row.getInt(3) > 0 && row.getLong(7) > now) {
                Holder holder = holder(Demand.exclusive(), row, 5, now);
                // Released, but kept taken for a while: by nobody.
                holders.add(row.getString(4) == null ? holder.lingering() : holder);
            }
            String state = row.getString(10);
            if (state == null) {
                return new Row(name, holders, List.of());
            }
            Demand demand = Kind.parse(row.getString(11)).demand(row.getInt(12), row.getInt(13));
            if (state.equals("waiting")) {
                return new Row(
                        name, holders, List.of(new Waiter(origin(row.getString(17)), demand, since(row.getLong(15)))));
            }
            Holder member = holder(demand, row, 14, now);
            boolean lingers = row.getString(18).startsWith("after-");
            holders.add(lingers ? member.lingering() : member);
            return new Row(name, holders, List.of());
        }

        /** From token, since, until and origin, which stand in this order. */
        private static Holder holder(Demand demand, ResultSet row, int column, long now) throws SQLException {
            return new Holder(
                    origin(row.getString(column + 3)),
                    demand,
                    Optional.of(row.getLong(column)),
                    since(row.getLong(column + 1)),
                    Optional.of(LockSql.ofMicros(row.getLong(column + 2) - now)));
        }

        private static Optional<LockView.Origin> origin(@Nullable String text) {
            return Optional.ofNullable(text).flatMap(OriginText::read);
        }

        private static Optional<Instant> since(long micros) {
            return Optional.of(Instant.EPOCH.plus(micros, ChronoUnit.MICROS));
        }
    }
}
