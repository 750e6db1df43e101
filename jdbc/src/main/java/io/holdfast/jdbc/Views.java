package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.LockView.Holder;
import io.holdfast.LockView;
import io.holdfast.jdbc.LockSql.Kind;
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

/** Turns rows into {@link LockView}s. */
final class Views {

    private Views() {}

    /** One lock, or the free one of that name. */
    static LockView one(String name, Requests requests, Deadline deadline, Requests.Work<List<Line>> work) {
        return held(byName(requests.run(name, deadline, work))).stream()
                .findFirst()
                .orElseGet(() -> LockView.free(name));
    }

    /** A part of a listing; full if it has so many locks, of which some may be free by now. */
    static Page page(String prefix, int limit, Requests requests, Deadline deadline, Requests.Work<List<Line>> work) {
        Map<String, List<Holder>> locks = byName(requests.run(prefix + "*", deadline, work));
        Optional<String> last = locks.size() < limit
                ? Optional.empty()
                : locks.keySet().stream().reduce((before, name) -> name);
        return new Page(held(locks), last);
    }

    private static Map<String, List<Holder>> byName(List<Line> lines) {
        Map<String, List<Holder>> locks = new LinkedHashMap<>();
        for (Line line : lines) {
            List<Holder> holders = locks.computeIfAbsent(line.name(), name -> new ArrayList<>());
            if (line.holder() != null) {
                holders.add(line.holder());
            }
        }
        return locks;
    }

    private static List<LockView> held(Map<String, List<Holder>> locks) {
        return locks.entrySet().stream()
                .filter(lock -> !lock.getValue().isEmpty())
                .map(lock -> new LockView(lock.getKey(), lock.getValue(), List.of()))
                .toList();
    }

    /** One row: a lock and one of its holders. */
    record Line(String name, @Nullable Holder holder) {

        static Line read(LockSql sql, ResultSet row) throws SQLException {
            long now = row.getLong(15);
            String name = sql.readName(row, 1);
            Kind kind = Kind.parse(row.getString(2));
            if (kind == Kind.EXCLUSIVE) {
                Holder holder = holder(row, Demand.exclusive(), 4, now);
                // Released, but kept taken for a while: by nobody.
                boolean lingers = row.getString(3) == null;
                return new Line(name, lingers ? withoutOrigin(holder) : holder);
            }
            if (row.getString(8) == null) {
                return new Line(name, null);
            }
            Demand demand = kind == Kind.SHARED ? Demand.shared() : Demand.permits(row.getInt(9), row.getInt(10));
            return new Line(name, holder(row, demand, 11, now));
        }

        private static Holder withoutOrigin(Holder holder) {
            return new Holder(Optional.empty(), holder.demand(), holder.token(), holder.since(), holder.timeLeft())
                    .lingering();
        }

        /** From token, since, until and origin, which stand in this order. */
        private static Holder holder(ResultSet row, Demand demand, int column, long now) throws SQLException {
            return new Holder(
                    Optional.ofNullable(row.getString(column + 3)).flatMap(OriginText::read),
                    demand,
                    Optional.of(row.getLong(column)),
                    Optional.of(Instant.EPOCH.plus(row.getLong(column + 1), ChronoUnit.MICROS)),
                    Optional.of(LockSql.ofMicros(row.getLong(column + 2) - now)));
        }
    }
}
