package io.holdfast.jdbc.ticket;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.jdbc.connection.Session;
import io.holdfast.jdbc.row.LockSql;
import io.holdfast.jdbc.row.LockState;
import io.holdfast.jdbc.row.Members;
import io.holdfast.jdbc.row.Requests;
import io.holdfast.jdbc.row.Requests.Exchange;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.support.EarliestAlarm;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The tickets of this client that wait in the table, and the looks at their locks until they are let in. Thread-safe.
 *
 * <p>For each lock at most one look is under way, on a background thread, for the first of this client's tickets.
 */
public final class WaitingTickets {

    /*
     * Who waits looks: whether the lock is free and nobody is ahead, and if so asks for it. How soon it looks again is told in Pauses. A
     * ticket that is released or given up in this client causes a look at once, unless the last look has shown others ahead; if it has
     * shown nobody, a release is followed by the request itself.
     *
     * A heartbeat may find that a ticket is not waiting any more, because a look has just got the lock for it. So it believes that a ticket
     * is gone only if no look is under way and the ticket itself still waits (isStillWaiting).
     *
     * A look that does not learn what became of its request (the connection broke) takes back whatever that may have done, by the
     * ticket's owner, before anything else; a request that is carried out later finds its ticket gone and does nothing.
     */

    private static final Logger LOG = System.getLogger(WaitingTickets.class.getName());

    private static final long PAUSE_AFTER_FAILURE_NANOS = Duration.ofMillis(250).toNanos();

    /** How often one looks for dead holders. */
    private static final long SETTLE_NANOS = Duration.ofMillis(200).toNanos();

    private static final Duration TIME_FOR_A_LOOK = Duration.ofSeconds(5);

    private static final int MOST_REMEMBERED = 1_000;

    private final StoreContext context;
    private final Requests requests;
    private final ConcurrentHashMap<String, Queue> queues = new ConcurrentHashMap<>();
    private final QueueMarks marks;

    /** For the locks waited for of late: how long they are usually held. */
    private final Map<String, Pauses> pausesOfLate = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Pauses> eldest) {
            return size() > MOST_REMEMBERED;
        }
    });

    private volatile boolean closed;

    public WaitingTickets(StoreContext context, Requests requests) {
        this.context = context;
        this.requests = requests;
        this.marks = new QueueMarks(context.time());
    }

    public QueueMarks marks() {
        return marks;
    }

    /** From now on its lock is looked at until it waits no more. */
    public void add(Ticket ticket, long number) {
        Queue queue = queues.compute(ticket.name(), (name, known) -> {
            Queue joined = known == null ? new Queue(name) : known;
            joined.tickets.put(number, ticket);
            return joined;
        });
        queue.added(number);
    }

    /** This client has released the lock, or its part of it. */
    public void released(String name) {
        Queue queue = queues.get(name);
        if (queue != null) {
            queue.released = true;
            changed(name);
        }
    }

    /** Something happened to the lock in this client. */
    public void changed(String name) {
        Queue queue = queues.get(name);
        if (queue != null && !queue.isBehind) {
            queue.startLooking();
        }
    }

    /** Whether tickets of this client wait for a lock. */
    public boolean any(String name) {
        return queues.containsKey(name);
    }

    /** Whether a ticket that is not in the table any more is lost, or on its way to be granted. */
    boolean isStillWaiting(Ticket ticket) {
        Queue queue = queues.get(ticket.name());
        // In this order: a look that is over has told its ticket, or will find out.
        return (queue == null || !queue.looking.get() && queue.uncertain != ticket)
                && ticket.state() == Ticket.State.WAITING;
    }

    public void close() {
        closed = true;
        queues.clear();
    }

    /** The tickets of this client for one lock. */
    private final class Queue {

        private final String name;
        private final ConcurrentSkipListMap<Long, Ticket> tickets = new ConcurrentSkipListMap<>();
        private final EarliestAlarm alarm = new EarliestAlarm(context.timer(), this::startLooking);
        private final AtomicBoolean looking = new AtomicBoolean();
        private volatile boolean wanted;

        /** Whether the last look has shown others ahead: until they had their turn no change lets anybody of this client in. */
        private volatile boolean isBehind;

        private volatile boolean released;

        // Used by the one that looks.
        private final Pauses pauses;
        private long settledNanos = context.time().nanoTime();
        private @Nullable Ticket seenFirst;
        private volatile @Nullable Ticket uncertain;

        Queue(String name) {
            this.name = name;
            this.pauses = pausesOfLate.computeIfAbsent(name, any -> new Pauses());
        }

        /** One that comes behind another of this client changes nothing for it, so it causes no look of its own. */
        void added(long number) {
            var first = tickets.firstEntry();
            if (first == null || first.getKey() >= number || first.getValue().state() != Ticket.State.WAITING) {
                isBehind = false;
                lookAfter(Pauses.FIRST_NANOS);
            } else {
                lookAfter(Pauses.RAREST_NANOS);
            }
        }

        private void lookAfter(long nanos) {
            alarm.at(context.time().nanoTime() + nanos);
        }

        void startLooking() {
            wanted = true;
            if (!closed && looking.compareAndSet(false, true)) {
                context.background().execute(this::look);
            }
        }

        private void look() {
            long pause = PAUSE_AFTER_FAILURE_NANOS;
            try {
                wanted = false;
                pause = letIn();
            } catch (LockException e) {
                LOG.log(Level.DEBUG, () -> "Waiting for lock '" + name + "': " + e);
            } catch (RuntimeException | Error e) {
                LOG.log(Level.ERROR, "Waiting for lock '" + name + "'", e);
            } finally {
                looking.set(false);
                goOn(pause);
            }
        }

        private void goOn(long pause) {
            if (wanted) {
                startLooking();
            } else if (forgetIfEmpty()) {
                lookAfter(pause);
            }
        }

        /** False if nobody waits any more. */
        private boolean forgetIfEmpty() {
            tickets.values().removeIf(ticket -> ticket.state() != Ticket.State.WAITING);
            queues.computeIfPresent(name, (same, queue) -> queue.tickets.isEmpty() ? null : queue);
            return queues.get(name) == this;
        }

        /** Grants the lock to as many as may have it, and returns how long to wait until the next look. */
        private long letIn() {
            while (true) {
                tickets.values().removeIf(ticket -> ticket.state() != Ticket.State.WAITING);
                var first = tickets.firstEntry();
                if (first == null) {
                    return Pauses.FIRST_NANOS;
                }
                Ticket ticket = first.getValue();
                takeBackUncertain();
                Optional<LockState> state = ask(ticket, first.getKey());
                if (state.isPresent()) {
                    return pauses.after(
                            state.get(), queues.size(), context.time().nanoTime());
                }
            }
        }

        private void takeBackUncertain() {
            Ticket ticket = uncertain;
            if (ticket != null) {
                requests.run(name, deadline(), (session, sql) -> sql.withdraw(session, ticket));
                uncertain = null;
                ticket.gone(LossReason.GONE, "the database did not say whether it was granted, so it was withdrawn");
            }
        }

        /** What is in the way; empty if the ticket was granted, or had ended. */
        private Optional<LockState> ask(Ticket ticket, long number) {
            if (ticket.state() != Ticket.State.WAITING) {
                return Optional.empty();
            }
            try (Exchange exchange = requests.begin(name, deadline(), Duration.ZERO)) {
                if (isReleasedFor(ticket) && isGranted(ticket, exchange)) {
                    return Optional.empty();
                }
                long lookNanos = context.time().nanoTime();
                LockState state = exchange.run((session, sql) -> see(session, sql, ticket, number))
                        .orElseThrow(() -> new IllegalStateException("no row of lock " + name));
                marks.learn(name, state, lookNanos);
                marks.mark(ticket, exchange);
                isBehind = state.ahead() > 0;
                seenFirst = isBehind ? null : ticket;
                return state.admits(ticket.demand()) && isGranted(ticket, exchange)
                        ? Optional.empty()
                        : Optional.of(state);
            }
        }

        /** Whether this client has just released the lock and nobody is ahead, as nobody comes ahead of who was the first once. */
        private boolean isReleasedFor(Ticket ticket) {
            boolean justReleased = released;
            released = false;
            return justReleased && seenFirst == ticket && ticket.demand() instanceof Demand.Exclusive;
        }

        private boolean isGranted(Ticket ticket, Exchange exchange) {
            long baseNanos = context.time().nanoTime();
            Optional<Long> token;
            try {
                token = exchange.run((session, sql) -> sql.grant(session, ticket));
            } catch (UnknownOutcomeException e) {
                uncertain = ticket;
                throw e;
            }
            if (token.isPresent()) {
                ticket.granted(token.get(), ticket.ttl(), baseNanos);
                pauses.granted(context.time().nanoTime());
                // After the ticket was told, who need not wait for it.
                exchange.run((session, sql) ->
                        sql.forgetEnded(session, ticket.owner().toString()));
            }
            return token.isPresent();
        }

        private Optional<LockState> see(Session session, LockSql sql, Ticket ticket, long number) throws SQLException {
            Optional<LockState> seen = sql.look(session, name, ticket.demand(), number);
            if (seen.isEmpty()) {
                sql.createFree(session, name, 1);
                return sql.look(session, name, ticket.demand(), number);
            }
            if (seen.get().admits(ticket.demand()) && seen.get().isLeftByTheDead()) {
                sql.clearExpired(session, name);
            }
            boolean mayBeOfTheDead = seen.get().ahead() == 0 && seen.get().isHeldByTickets();
            long now = context.time().nanoTime();
            if (mayBeOfTheDead && !seen.get().admits(ticket.demand()) && now - settledNanos > SETTLE_NANOS) {
                settledNanos = now;
                if (new Members(sql).settle(session, name)) {
                    return sql.look(session, name, ticket.demand(), number);
                }
            }
            return seen;
        }

        private Deadline deadline() {
            return Deadline.after(context.time(), TIME_FOR_A_LOOK);
        }
    }
}
