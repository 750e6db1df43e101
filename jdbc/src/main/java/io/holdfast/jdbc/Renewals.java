package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.jdbc.Connections.Purpose;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Renews many leases with few statements, on the connection kept for that. Thread-safe. */
final class Renewals {

    /*
     * What renews decides. A plain SELECT after the UPDATE, to see who was renewed, did not: the clock was set back between the
     * two (or the SELECT went to a replica), so a lease that had expired for the first was alive for the second, and its holder
     * counted on a lease that another could take. PostgreSQL returns whom it has renewed. MySQL returns how many: if that is not
     * all or none, the batch is renewed again in halves. Members are renewed by the one reading of the clock that came with
     * their rows, which stay locked until the end.
     *
     * No batch waits for a row. One row locked by somebody else, who was stopped at the wrong moment, kept a whole batch and all
     * behind it waiting until their leases were over. So a batch that meets a locked row fails at once, and is renewed in halves
     * too, until the row is alone and the others are done. Only then it is waited for, in the server's queue (a crowd on one lock
     * keeps its row locked nearly all the time: who only tried at once did not get in), and not for long. MySQL, unlike
     * MariaDB, waits for a second at least: there halves also follow when a batch has used its share of the time.
     */

    /** Per statement: few enough that one slow statement leaves time for the others. */
    private static final int LARGEST_BATCH = 250;

    /** For all rows together: leases that become due meanwhile have to wait too. */
    private static final Duration LONGEST_WAIT = Duration.ofMillis(500);

    private static final Duration SHORTEST_WAIT = Duration.ofMillis(5);

    private final Requests requests;
    private final TimeSource time;

    Renewals(Requests requests, TimeSource time) {
        this.requests = requests;
        this.time = time;
    }

    /** Leases that go by the same statement with the same values. */
    private record Sort(boolean alone, Duration ttl) {}

    /** A ticket, with its owner as it stands in the row. */
    private record Item(Ticket ticket, String owner) {

        String name() {
            return ticket.name();
        }
    }

    private record Batch(Sort sort, List<Item> items) {

        boolean isOne() {
            return items.size() == 1;
        }

        List<Batch> halves() {
            int middle = items.size() / 2;
            return List.of(
                    new Batch(sort, items.subList(0, middle)), new Batch(sort, items.subList(middle, items.size())));
        }
    }

    /** Who was renewed by a request sent just after {@code baseNanos}; everybody else of its batch is gone. */
    private record Renewed(long baseNanos, Set<String> owners) {}

    private record Member(String owner, long expiresAt, long rowExpiresAt, long now) {}

    /** Tells each what became of it; those whose row is locked by somebody else are waited for a while. */
    void renew(List<Ticket> tickets, Function<Ticket, Duration> ttl, Deadline deadline) {
        Deque<Batch> batches = new ArrayDeque<>(batches(tickets, ttl));
        List<Batch> locked = new ArrayList<>();
        while (!batches.isEmpty()) {
            Batch batch = batches.remove();
            // Whoever hangs leaves time for those behind.
            Deadline share = batches.isEmpty()
                    ? deadline
                    : deadline.within(deadline.remaining().dividedBy(2));
            try {
                renew(batch, Duration.ZERO, share, Deadline.after(time, Duration.ZERO))
                        .ifPresentOrElse(
                                renewed -> report(batch, renewed), () -> batches.addAll(batch.halves()));
            } catch (LockException e) {
                if (deadline.hasPassed() || !mayBeForOneRow(e)) {
                    report(batch, e);
                } else if (batch.isOne()) {
                    locked.add(batch);
                } else {
                    batches.addAll(batch.halves());
                }
            }
        }
        waitForLocked(locked, deadline);
    }

    /** The server is the first to give up, and the connection is kept. */
    private void waitForLocked(List<Batch> locked, Deadline deadline) {
        Deadline patience = deadline.within(deadline.remaining().dividedBy(2)).within(LONGEST_WAIT);
        for (int i = 0; i < locked.size(); i++) {
            Batch one = locked.get(i);
            Duration wait = patience.remaining().dividedBy(locked.size() - i);
            try {
                renew(one, wait.compareTo(SHORTEST_WAIT) > 0 ? wait : Duration.ZERO, deadline, patience)
                        .ifPresent(renewed -> report(one, renewed));
            } catch (LockException e) {
                report(one, e);
            }
        }
    }

    private static List<Batch> batches(List<Ticket> tickets, Function<Ticket, Duration> ttl) {
        Map<Sort, List<Item>> sorts = new LinkedHashMap<>();
        for (Ticket ticket : tickets) {
            boolean alone = ticket.demand() instanceof Demand.Exclusive;
            sorts.computeIfAbsent(new Sort(alone, ttl.apply(ticket)), sort -> new ArrayList<>())
                    .add(new Item(ticket, ticket.owner().toString()));
        }
        List<Batch> batches = new ArrayList<>();
        sorts.forEach((sort, items) -> {
            for (int from = 0; from < items.size(); from += LARGEST_BATCH) {
                batches.add(new Batch(sort, items.subList(from, Math.min(from + LARGEST_BATCH, items.size()))));
            }
        });
        return batches;
    }

    private static void report(Batch batch, LockException failure) {
        batch.items().forEach(item -> item.ticket().failing(failure));
    }

    private static void report(Batch batch, Renewed renewed) {
        for (Item item : batch.items()) {
            if (renewed.owners().contains(item.owner())) {
                item.ticket().extended(batch.sort().ttl(), renewed.baseNanos());
            } else {
                item.ticket().gone(LossReason.GONE, "its owner no longer has it in the database");
            }
        }
    }

    /** Whether the others of the batch may well be renewed without one of them. */
    private static boolean mayBeForOneRow(LockException e) {
        return e instanceof UnknownOutcomeException
                || (e.getCause() instanceof SQLException cause && SqlFailure.of(cause) == SqlFailure.RETRY);
    }

    /** Empty if some are renewed and some are not, and it does not show which. */
    private Optional<Renewed> renew(Batch batch, Duration wait, Deadline deadline, Deadline retryUntil) {
        Requests.Work<Optional<Renewed>> work = (session, sql) -> {
            long baseNanos = time.nanoTime();
            Optional<Set<String>> owners = batch.sort().alone()
                    ? renewAlone(session, sql, batch, wait)
                    : Optional.of(renewMembers(session, sql, batch, wait));
            return owners.map(renewed -> new Renewed(baseNanos, renewed));
        };
        return requests.run(
                batch.items().get(0).name(),
                Purpose.RENEWAL,
                deadline,
                retryUntil,
                batch.sort().alone() ? work : Requests.inTransaction(work));
    }

    /** Owners are unique, so names and owners need not be paired; names let the server use its index. */
    private static Optional<Set<String>> renewAlone(Session session, LockSql sql, Batch batch, Duration wait)
            throws SQLException {
        String renew = sql.renew(batch.items().size(), wait);
        List<Object> values =
                new ArrayList<>(List.of(LockSql.micros(batch.sort().ttl())));
        values.addAll(names(sql, batch.items()));
        values.addAll(owners(batch.items()));
        if (sql.dialect() == Dialect.POSTGRESQL) {
            return Optional.of(
                    new HashSet<>(session.updateReturning(renew, row -> row.getString(1), values.toArray())));
        }
        int renewed = session.update(renew, values.toArray());
        if (renewed == 0) {
            return Optional.of(Set.of());
        }
        return renewed == batch.items().size() ? Optional.of(new HashSet<>(owners(batch.items()))) : Optional.empty();
    }

    /** Rows and members together, so that a member never outlives its row (see {@link LockedRow}). */
    private static Set<String> renewMembers(Session session, LockSql sql, Batch batch, Duration wait)
            throws SQLException {
        List<Object> keys = new ArrayList<>(names(sql, batch.items()));
        keys.addAll(owners(batch.items()));
        List<Member> members = session.query(
                sql.lockMembers(batch.items().size(), wait),
                row -> new Member(row.getString(1), row.getLong(2), row.getLong(3), row.getLong(4)),
                keys.toArray());
        long now = members.stream().mapToLong(Member::now).max().orElse(0);
        Set<String> alive = members.stream()
                .filter(member -> member.expiresAt() > now && member.rowExpiresAt() > now)
                .map(Member::owner)
                .collect(Collectors.toSet());
        List<Item> items = batch.items().stream()
                .filter(item -> alive.contains(item.owner()))
                .toList();
        if (!items.isEmpty()) {
            List<Object> values =
                    new ArrayList<>(List.of(now + LockSql.micros(batch.sort().ttl())));
            values.addAll(names(sql, items));
            session.update(LockSql.forMany(sql.renewCrowds, items.size()), values.toArray());
            values.addAll(owners(items));
            session.update(LockSql.forMany(sql.renewMembers, items.size()), values.toArray());
        }
        return alive;
    }

    private static List<Object> names(LockSql sql, List<Item> items) {
        return items.stream().map(item -> sql.name(item.name())).toList();
    }

    private static List<String> owners(List<Item> items) {
        return items.stream().map(Item::owner).toList();
    }
}
