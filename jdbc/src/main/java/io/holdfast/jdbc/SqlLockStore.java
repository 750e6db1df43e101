package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.jdbc.connection.Connections;
import io.holdfast.jdbc.row.ForcedRelease;
import io.holdfast.jdbc.row.Kind;
import io.holdfast.jdbc.row.LockSql;
import io.holdfast.jdbc.row.LockState;
import io.holdfast.jdbc.row.Members;
import io.holdfast.jdbc.row.Requests;
import io.holdfast.jdbc.row.Requests.Exchange;
import io.holdfast.jdbc.row.Requests.Work;
import io.holdfast.jdbc.ticket.QueueMarks;
import io.holdfast.jdbc.ticket.Renewals;
import io.holdfast.jdbc.ticket.Views;
import io.holdfast.jdbc.ticket.WaitingTickets;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Withdrawal;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** Keeps each lock in a row of a table, and those who wait for it or share it in rows of another (see {@link LockSql}). */
final class SqlLockStore implements DowngradingStore, TokenRaisingStore, AdministeredStore {

    private static final Logger LOG = System.getLogger(SqlLockStore.class.getName());

    /** How often a request starts over that finds what it saw changed. */
    private static final int TRIES = 20;

    /** To connect, and then to be answered, each beyond the caller's deadline if need be: better than not knowing the outcome. */
    private static final Duration TIME_TO_ANSWER = Duration.ofMillis(500);

    private static final Duration BACKGROUND_WORK = Duration.ofSeconds(5);
    private static final Duration SWEEP_PERIOD = Duration.ofMinutes(1);

    /** What an error is about that is not about one lock. */
    private static final String ALL_LOCKS = "*";

    private final StoreTraits traits;
    private final StoreContext context;
    private final Connections connections;
    private final Requests requests;
    private final WaitingTickets waiting;
    private final QueueMarks marks;
    private final Renewals renewals;
    private final Views views;
    private final AtomicLong sweptNanos;

    SqlLockStore(StoreTraits traits, StoreContext context, Connections connections, Requests requests) {
        this.traits = traits;
        this.context = context;
        this.connections = connections;
        this.requests = requests;
        this.waiting = new WaitingTickets(context, requests);
        this.marks = waiting.marks();
        this.renewals = new Renewals(requests, waiting, context.time());
        this.views = new Views(requests);
        this.sweptNanos = new AtomicLong(context.time().nanoTime());
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    @Override
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        sweepNowAndThen();
        try (Exchange exchange = requests.begin(ticket.name(), deadline, TIME_TO_ANSWER)) {
            Optional<Refusal> refusal = ticket.demand() instanceof Demand.Exclusive
                    ? takeAlone(ticket, mode, exchange)
                    : join(ticket, mode, exchange);
            if (refusal.isPresent() && mode == Mode.QUEUE) {
                enqueue(ticket, exchange);
                return Optional.empty();
            }
            return refusal;
        }
    }

    private Optional<Refusal> takeAlone(Ticket ticket, Mode mode, Exchange exchange) {
        String name = ticket.name();
        if (mode == Mode.QUEUE && waiting.any(name)) {
            return Optional.of(new Refusal("others wait for it"));
        }
        for (int tries = 0; tries < TRIES; tries++) {
            boolean marked = marks.isMarked(name);
            if (isGranted(
                    ticket,
                    exchange,
                    (session, sql) -> marked ? sql.takeUnlessQueued(session, ticket) : sql.take(session, ticket))) {
                return Optional.empty();
            }
            if (mode == Mode.QUEUE && marked) {
                return Optional.of(new Refusal("it is taken"));
            }
            long lookNanos = context.time().nanoTime();
            Optional<LockState> state = look(ticket, exchange);
            state.ifPresent(seen -> marks.learn(name, seen, lookNanos));
            if (state.isEmpty()) {
                if (isGranted(ticket, exchange, (session, sql) -> sql.createTaken(session, ticket))) {
                    return Optional.empty();
                }
            } else if (!state.get().admits(ticket.demand()) && !settle(name, state.get(), exchange)) {
                return Optional.of(state.get().refusal());
            }
        }
        throw changesTooFast(name);
    }

    private Optional<Refusal> join(Ticket ticket, Mode mode, Exchange exchange) {
        String name = ticket.name();
        for (int tries = 0; tries < TRIES; tries++) {
            Optional<LockState> state = look(ticket, exchange);
            if (state.isEmpty()) {
                exchange.run((session, sql) -> sql.createFree(session, name, 1));
            } else if (!state.get().admits(ticket.demand())) {
                if (mode == Mode.QUEUE || !settle(name, state.get(), exchange)) {
                    return Optional.of(state.get().refusal());
                }
            } else if (tryJoin(ticket, state.get(), exchange)) {
                return Optional.empty();
            }
        }
        throw changesTooFast(name);
    }

    private boolean tryJoin(Ticket ticket, LockState state, Exchange exchange) {
        if (state.isLeftByTheDead()) {
            exchange.run((session, sql) -> sql.clearExpired(session, ticket.name()));
        }
        exchange.run((session, sql) -> sql.addTicket(session, ticket, "trying"));
        if (isGranted(ticket, exchange, (session, sql) -> sql.grant(session, ticket))) {
            return true;
        }
        removeUnlessHeld(ticket, exchange);
        return false;
    }

    private boolean isGranted(Ticket ticket, Exchange exchange, Work<Optional<Long>> asking) {
        long baseNanos = context.time().nanoTime();
        Optional<Long> token = exchange.run(asking);
        token.ifPresent(minted -> ticket.granted(minted, ticket.ttl(), baseNanos));
        return token.isPresent();
    }

    private static Optional<LockState> look(Ticket ticket, Exchange exchange) {
        return exchange.run((session, sql) -> sql.look(session, ticket.name(), ticket.demand(), LockSql.NOT_QUEUED));
    }

    /** Whether what was in the way was left by the dead, and is not any more. */
    private static boolean settle(String name, LockState state, Exchange exchange) {
        return state.isHeldByTickets() && exchange.run((session, sql) -> new Members(sql).settle(session, name));
    }

    private static StoreUnavailableException changesTooFast(String name) {
        return new StoreUnavailableException(name, "its row changes faster than it can be looked at");
    }

    private void enqueue(Ticket ticket, Exchange exchange) {
        marks.mark(ticket, exchange);
        long baseNanos = context.time().nanoTime();
        long number = exchange.run((session, sql) -> sql.addTicket(session, ticket, "waiting"));
        ticket.waiting(ticket.ttl(), baseNanos);
        waiting.add(ticket, number);
    }

    /** Clears away what the dead left of locks nobody has wanted since: in nobody's way, but not to be kept either. */
    private void sweepNowAndThen() {
        long last = sweptNanos.get();
        long now = context.time().nanoTime();
        if (now - last > SWEEP_PERIOD.toNanos() && sweptNanos.compareAndSet(last, now)) {
            try {
                context.background().execute(this::sweep);
            } catch (RuntimeException | Error e) {
                // Closed, or in whatever trouble: it is nothing that whoever asks for a lock should hear of.
                LOG.log(Level.DEBUG, () -> "Did not sweep: " + e);
            }
        }
    }

    private void sweep() {
        try {
            requests.run(ALL_LOCKS, soon(), (session, sql) -> new Members(sql).sweep(session));
        } catch (LockException e) {
            LOG.log(Level.DEBUG, () -> "Could not sweep: " + e);
        }
    }

    private Deadline soon() {
        return Deadline.after(context.time(), BACKGROUND_WORK);
    }

    @Override
    public void renew(List<Ticket> tickets, Deadline deadline) {
        renewals.renew(tickets, deadline);
    }

    @Override
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        renewals.extend(ticket, ttl, deadline);
    }

    @Override
    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        String owner = ticket.owner().toString();
        boolean released = requests.run(ticket.name(), deadline, (session, sql) -> {
            if (ticket.demand() instanceof Demand.Exclusive) {
                return sql.release(session, ticket, linger);
            }
            if (!linger.isZero() && !linger.isNegative()) {
                return sql.linger(session, owner, linger);
            }
            boolean left = sql.leave(session, owner, Kind.permits(ticket.demand()));
            if (!left) {
                sql.remove(session, owner);
            }
            return left;
        });
        waiting.released(ticket.name());
        return released ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
    }

    @Override
    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        boolean removed = requests.run(ticket.name(), deadline, (session, sql) -> sql.withdraw(session, ticket));
        waiting.changed(ticket.name());
        return removed ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }

    @Override
    public void downgrade(Ticket exclusive, Deadline deadline) {
        String name = exclusive.name();
        try (Exchange exchange = requests.begin(name, deadline, Duration.ZERO)) {
            if (exclusive.demand() instanceof Demand.Exclusive && goesOnAsShared(exclusive, exchange)) {
                exclusive.downgraded();
                waiting.changed(name);
            } else {
                removeUnlessHeld(exclusive, exchange);
                exclusive.gone(LossReason.GONE, "the database no longer has it for this owner");
            }
        }
    }

    /*
     * Its owner may still have a ticket: the one it waited with, or one of an earlier try. That try may even be under way at the server
     * now. If it comes before the removal it is carried out, and the ticket is held; after it, it finds no ticket and changes
     * nothing; after the new ticket, it does what is about to be done here, and is found to have done so.
     */
    private static boolean goesOnAsShared(Ticket exclusive, Exchange exchange) {
        removeUnlessHeld(exclusive, exchange);
        if (isHeld(exclusive, exchange)) {
            return true;
        }
        exchange.run((session, sql) -> sql.addTicket(session, sharedTwin(exclusive), "trying"));
        return exchange.run((session, sql) -> sql.downgrade(session, exclusive)) || isHeld(exclusive, exchange);
    }

    private static boolean isHeld(Ticket ticket, Exchange exchange) {
        return exchange.run((session, sql) -> sql.isHeld(session, ticket));
    }

    private static void removeUnlessHeld(Ticket ticket, Exchange exchange) {
        exchange.run(
                (session, sql) -> sql.removeUnlessHeld(session, ticket.owner().toString()));
    }

    /** The same claim as one that shares. */
    private static Ticket sharedTwin(Ticket exclusive) {
        Ticket twin = exclusive.forNode(new Ticket.Listener() {});
        twin.downgraded();
        return twin;
    }

    @Override
    public void raise(String name, long floor, Deadline deadline) {
        try (Exchange exchange = requests.begin(name, deadline, Duration.ZERO)) {
            exchange.run((session, sql) -> sql.createFree(session, name, floor));
            exchange.run((session, sql) -> sql.raise(session, name, floor));
        }
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        int lost;
        try (Exchange exchange = requests.begin(name, deadline, Duration.ZERO)) {
            lost = new ForcedRelease(name, exchange).run();
        }
        waiting.changed(name);
        return lost;
    }

    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return requests.run(ALL_LOCKS, deadline, (session, sql) -> new Members(sql).prune(session, idleFor));
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return views.one(name, deadline);
    }

    @Override
    public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
        return views.page(prefix, after, limit, deadline);
    }

    @Override
    public void ping(Deadline deadline) {
        requests.run(ALL_LOCKS, deadline, (session, sql) -> session.query("SELECT 1", row -> row.getInt(1)));
    }

    @Override
    public void close() {
        waiting.close();
        connections.close();
    }
}
