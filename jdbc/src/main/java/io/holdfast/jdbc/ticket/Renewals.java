package io.holdfast.jdbc.ticket;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.jdbc.connection.Connections.Purpose;
import io.holdfast.jdbc.connection.Session;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.SqlFailure;
import io.holdfast.jdbc.row.LockSql;
import io.holdfast.jdbc.row.Requests;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/** Renews many leases with few statements, on the connection kept for that. Thread-safe. */
public final class Renewals {

    /*
     * What renews decides. A plain SELECT after the UPDATE, to see who was renewed, did not: the clock was set back between the
     * two (or the SELECT went to a replica), so a lease that had expired for the first was alive for the second, and its holder
     * counted on a lease that another could take. PostgreSQL returns whom it has renewed. MySQL and H2 return how many: if that is
     * not all or none, the batch is renewed again in halves.
     *
     * No batch waits for a row. One row locked by somebody else kept a whole batch and all behind it waiting until their leases
     * were over. So a batch that meets a locked row fails at once, and is renewed in halves too, until the row is alone and the others
     * are done. Only then it is waited for, and not for long. MySQL, unlike MariaDB, waits for a second at least: there halves also
     * follow when a batch has used its share of the time.
     */

    /** Per statement: few enough that one slow statement leaves time for the others. */
    private static final int LARGEST_BATCH = 250;

    /** For all rows together: leases that become due meanwhile have to wait too. */
    private static final Duration LONGEST_WAIT = Duration.ofMillis(500);

    private static final Duration SHORTEST_WAIT = Duration.ofMillis(5);

    private final Requests requests;
    private final WaitingTickets waiting;
    private final TimeSource time;

    public Renewals(Requests requests, WaitingTickets waiting, TimeSource time) {
        this.requests = requests;
        this.waiting = waiting;
        this.time = time;
    }

    /** Which row is kept. */
    private enum Row {
        /** That of the lock. */
        LOCK,
        /** That of a ticket which is one of several holders. */
        HELD,
        /** That of a ticket in the queue. */
        WAITING;

        static Row of(Ticket ticket) {
            if (ticket.state() == Ticket.State.WAITING) {
                return WAITING;
            }
            return ticket.demand() instanceof Demand.Exclusive ? LOCK : HELD;
        }

        String state() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Tickets that go by the same statement with the same values. */
    private record Sort(Row row, Duration ttl) {}

    private record Batch(Sort sort, List<Ticket> tickets) {

        boolean isOne() {
            return tickets.size() == 1;
        }

        List<Batch> halves() {
            int middle = tickets.size() / 2;
            return List.of(
                    new Batch(sort, tickets.subList(0, middle)),
                    new Batch(sort, tickets.subList(middle, tickets.size())));
        }
    }

    /** Who was renewed by a request sent just after {@code baseNanos}; everybody else of its batch is gone. */
    private record Renewed(long baseNanos, Set<String> owners) {}

    /** Renews one for that ttl, in its turn among requests. Throws if it could not be asked for. */
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        Optional<Batch> one = Optional.of(batches(List.of(ticket), any -> ttl).get(0));
        while (one.isPresent()) {
            Batch batch = one.get();
            one = renew(batch, Purpose.REQUEST, LONGEST_WAIT, deadline, deadline)
                    .flatMap(renewed -> report(batch, renewed));
        }
    }

    /** Tells each what became of it; those whose row is locked by somebody else are waited for a while. */
    public void renew(List<Ticket> tickets, Deadline deadline) {
        renewAll(batches(tickets, Ticket::ttl), deadline);
    }

    private void renewAll(List<Batch> all, Deadline deadline) {
        Deque<Batch> batches = new ArrayDeque<>(all);
        List<Batch> locked = new ArrayList<>();
        while (!batches.isEmpty()) {
            Batch batch = batches.remove();
            // Whoever hangs leaves time for those behind.
            Deadline share = batches.isEmpty()
                    ? deadline
                    : deadline.within(deadline.remaining().dividedBy(2));
            try {
                renew(batch, Purpose.RENEWAL, Duration.ZERO, share, Deadline.after(time, Duration.ZERO))
                        .ifPresentOrElse(
                                renewed -> report(batch, renewed).ifPresent(batches::add),
                                () -> batches.addAll(batch.halves()));
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
                Duration limit = wait.compareTo(SHORTEST_WAIT) > 0 ? wait : Duration.ZERO;
                renew(one, Purpose.RENEWAL, limit, deadline, patience)
                        .flatMap(renewed -> report(one, renewed))
                        .ifPresent(rest -> renewAll(List.of(rest), deadline));
            } catch (LockException e) {
                report(one, e);
            }
        }
    }

    private static List<Batch> batches(List<Ticket> tickets, Function<Ticket, Duration> ttl) {
        // Leases before the queue.
        Map<Sort, List<Ticket>> sorts =
                new TreeMap<>(Comparator.comparing(Sort::row).thenComparing(Sort::ttl));
        for (Ticket ticket : tickets) {
            sorts.computeIfAbsent(new Sort(Row.of(ticket), ttl.apply(ticket)), sort -> new ArrayList<>())
                    .add(ticket);
        }
        List<Batch> batches = new ArrayList<>();
        sorts.forEach((sort, alike) -> {
            for (int from = 0; from < alike.size(); from += LARGEST_BATCH) {
                batches.add(new Batch(sort, alike.subList(from, Math.min(from + LARGEST_BATCH, alike.size()))));
            }
        });
        return batches;
    }

    private static void report(Batch batch, LockException failure) {
        batch.tickets().forEach(ticket -> ticket.failing(failure));
    }

    /** Returns those that may be held in another way by now: one that had its lock alone may just have been downgraded. */
    private Optional<Batch> report(Batch batch, Renewed renewed) {
        Sort sort = batch.sort();
        List<Ticket> elsewhere = new ArrayList<>();
        for (Ticket ticket : batch.tickets()) {
            if (renewed.owners().contains(owner(ticket))) {
                kept(ticket, sort, renewed.baseNanos());
            } else if (sort.row() == Row.LOCK) {
                elsewhere.add(ticket);
            } else if (sort.row() == Row.HELD || waiting.isStillWaiting(ticket)) {
                ticket.gone(LossReason.GONE, "its owner no longer has it in the database");
            }
        }
        return elsewhere.isEmpty()
                ? Optional.empty()
                : Optional.of(new Batch(new Sort(Row.HELD, sort.ttl()), elsewhere));
    }

    private static void kept(Ticket ticket, Sort sort, long baseNanos) {
        if (sort.row() == Row.WAITING) {
            ticket.waiting(sort.ttl(), baseNanos);
        } else {
            ticket.extended(sort.ttl(), baseNanos);
        }
    }

    /** Whether the others of the batch may well be renewed without one of them. */
    private static boolean mayBeForOneRow(LockException e) {
        return e instanceof UnknownOutcomeException
                || (e.getCause() instanceof SQLException cause && SqlFailure.of(cause) == SqlFailure.RETRY);
    }

    /** Empty if some are renewed and some are not, and it does not show which. */
    private Optional<Renewed> renew(
            Batch batch, Purpose purpose, Duration wait, Deadline deadline, Deadline retryUntil) {
        return requests.run(batch.tickets().get(0).name(), purpose, deadline, retryUntil, (session, sql) -> {
            long baseNanos = time.nanoTime();
            return renew(session, sql, batch, wait).map(owners -> new Renewed(baseNanos, owners));
        });
    }

    private static Optional<Set<String>> renew(Session session, LockSql sql, Batch batch, Duration wait)
            throws SQLException {
        boolean locks = batch.sort().row() == Row.LOCK;
        String text = text(sql, batch.sort().row(), wait, batch.tickets().size());
        List<Object> values =
                new ArrayList<>(List.of(LockSql.micros(batch.sort().ttl())));
        if (locks) {
            // Owners are unique, so names and owners need not be paired; names let the server use its index.
            batch.tickets().forEach(ticket -> values.add(sql.name(ticket.name())));
        } else {
            values.add(batch.sort().row().state());
        }
        values.addAll(owners(batch.tickets()));
        if (sql.dialect() == Dialect.POSTGRESQL) {
            return Optional.of(new HashSet<>(session.updateReturning(text, row -> row.getString(1), values.toArray())));
        }
        int renewed = session.update(text, values.toArray());
        if (renewed == 0) {
            return Optional.of(Set.of());
        }
        return renewed == batch.tickets().size()
                ? Optional.of(new HashSet<>(owners(batch.tickets())))
                : Optional.empty();
    }

    /** A waiting ticket gets just its ttl, so that one from before the server's clock was set back counts again. */
    private static String text(LockSql sql, Row row, Duration wait, int size) {
        String table = row == Row.LOCK ? "{lock}" : "{ticket}";
        String until = row == Row.WAITING ? "{now} + ?" : "GREATEST(expires_at, {now} + ?)";
        String extend = "UPDATE " + table + " SET expires_at = " + until + ", renewals = renewals + 1 WHERE ";
        String which =
                (row == Row.LOCK ? "name IN ({some})" : "state = ?") + " AND owner IN ({some}) AND expires_at > {now}";
        String key = row == Row.LOCK ? "name" : "owner";
        boolean atOnce = wait.isZero();
        String whole = switch (sql.dialect()) {
            case MYSQL -> (atOnce ? Dialect.MARIADB_AT_ONCE : Dialect.MARIADB_SOON) + extend + which;
            case POSTGRESQL ->
                extend + key + " = ANY (ARRAY(SELECT " + key + " FROM " + table + " WHERE "
                        + (atOnce ? "" : Dialect.POSTGRESQL_SOON) + which + " FOR UPDATE "
                        + (atOnce ? "NOWAIT" : "") + "))" + " RETURNING owner";
            case H2 -> extend + which;
        };
        String seconds = String.format(Locale.ROOT, "%d.%03d", wait.toSeconds(), wait.toMillisPart());
        return LockSql.forMany(sql.text(whole), size).replace("{wait}", seconds);
    }

    private static List<String> owners(List<Ticket> tickets) {
        return tickets.stream().map(Renewals::owner).toList();
    }

    private static String owner(Ticket ticket) {
        return ticket.owner().toString();
    }
}
