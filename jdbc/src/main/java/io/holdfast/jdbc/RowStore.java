package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.jdbc.LockSql.Kind;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.HintingStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Withdrawal;
import java.lang.System.Logger.Level;
import java.lang.System.Logger;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each lock in a row of a table. Taking it alone is one conditional UPDATE by the server's clock; sharing it is a
 * short transaction that holds the row (see {@link LockedRow}).
 */
final class RowStore implements HintingStore, DowngradingStore, TokenRaisingStore, AdministeredStore {

    private static final Logger LOG = System.getLogger(RowStore.class.getName());

    /** How often a request starts over that finds no row, or finds one just as it adds it. */
    private static final int TRIES = 3;

    /** A waiter's last request is not sent if it could hardly be answered in time. */
    private static final Duration SHORTEST_REQUEST = Duration.ofMillis(20);

    /** What is sent may take this long, beyond the caller's deadline if need be: better than not knowing its outcome. */
    private static final Duration TIME_TO_ANSWER = Duration.ofMillis(500);

    /** Between two looks of the one that has the baton of a lock held by somebody else. */
    private static final Duration LONGEST_PAUSE_WITH_BATON = Duration.ofMillis(50);

    /** Who waits for a shorter time does not use a connection for it. */
    private static final Duration LONG_WAIT = Duration.ofSeconds(1);

    private static final Duration BACKGROUND_WORK = Duration.ofSeconds(1);
    private static final Duration SWEEP_PERIOD = Duration.ofMinutes(1);

    private final StoreTraits traits;
    private final StoreContext context;
    private final Connections connections;
    private final Requests requests;
    private final Renewals renewals;
    private final Bells bells;
    private final AtomicLong sweptNanos;
    private final RelayedRequests relayed;
    private final @Nullable PostgresBell bell;

    /** @param wakeUps whether to listen for notifications, besides polling */
    RowStore(
            StoreTraits traits,
            StoreContext context,
            Connections connections,
            Requests requests,
            Relay relay,
            Optional<Callable<Connection>> wakeUps) {
        this.traits = traits;
        this.context = context;
        this.connections = connections;
        this.requests = requests;
        this.renewals = new Renewals(requests, context.time());
        this.sweptNanos = new AtomicLong(context.time().nanoTime());
        this.bells = new Bells(context.time(), this::leaveLine, relay::giveUp);
        this.relayed = new RelayedRequests(requests, relay, bells, context.time(), this::refused);
        this.bell = wakeUps.map(connect -> new PostgresBell(
                        context.clientId(),
                        "holdfast-" + context.clientName() + "-bell",
                        connect,
                        bells,
                        context.time()))
                .orElse(null);
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    @Override
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        return ask(ticket, deadline).reportTo(ticket);
    }

    private Answer ask(Ticket ticket, Deadline callersDeadline) {
        sweepNowAndThen();
        boolean late = callersDeadline.remaining().compareTo(SHORTEST_REQUEST) < 0;
        if (late && bells.isListened(ticket.name())) {
            return new Answer.Refused(new Refusal("no time was left to ask again"));
        }
        Deadline deadline = callersDeadline.remaining().compareTo(TIME_TO_ANSWER) < 0
                ? Deadline.after(context.time(), TIME_TO_ANSWER)
                : callersDeadline;
        boolean patient = callersDeadline.remaining().compareTo(LONG_WAIT) > 0;
        if (isForAlone(ticket) && bells.isListened(ticket.name())) {
            Optional<Answer> answer = relayed.ask(ticket, patient, deadline);
            if (answer.isPresent()) {
                return answer.get();
            }
        }
        for (int tries = 0; tries < TRIES; tries++) {
            Optional<Answer> quick =
                    requests.run(ticket.name(), deadline, (session, sql) -> ask(session, sql, ticket));
            Optional<Answer> answer = quick.isPresent() ? quick : askWithRowLocked(ticket, deadline);
            if (answer.isPresent()) {
                if (answer.get() instanceof Answer.Taken) {
                    bells.admitted(ticket.name());
                } else if (patient && isForAlone(ticket) && bells.mayQueue(ticket.name())) {
                    relayed.queueForBaton(ticket);
                }
                return answer.get();
            }
            createRow(ticket.name(), 1, deadline);
        }
        throw new StoreUnavailableException(ticket.name(), "its row disappears as soon as it is there");
    }

    private static boolean isForAlone(Ticket ticket) {
        return ticket.demand() instanceof Demand.Exclusive;
    }

    /** Statements that stand for themselves: enough for an exclusive request and for most refusals. Empty if not. */
    private Optional<Answer> ask(Session session, LockSql sql, Ticket ticket) throws SQLException {
        boolean alone = isForAlone(ticket);
        String client = ticket.owner().client();
        if (alone && bells.needsPlace(ticket.name())) {
            // Just refused: that a place is missing is likelier than that the lock became free.
            Optional<Sight> stood = sql.stand(session, ticket, client);
            if (stood.isPresent() && !stood.get().hasDeadFirst()) {
                return stood.map(seen -> refused(seen, ticket, client));
            }
        }
        boolean looksFirst = alone && bells.isHardlyTurn(ticket.name());
        Optional<Answer> taken = alone && !looksFirst ? take(session, sql, ticket, client) : Optional.empty();
        if (taken.isPresent()) {
            return taken;
        }
        Optional<Sight> sight = Sight.of(session, sql, ticket.name());
        if (sight.isEmpty() && alone) {
            return sql.createTaken(session, ticket, context.time().nanoTime()).map(Answer.class::cast);
        }
        if (looksFirst && sight.isPresent() && !sight.get().refuses(ticket, client)) {
            return take(session, sql, ticket, client);
        }
        if (sight.isPresent() && sight.get().isLeftToRelay()) {
            return alone ? takeFromRelay(session, sql, ticket, sight.get()) : Optional.empty();
        }
        return sight.filter(seen -> seen.refuses(ticket, client) && !shouldStandInLine(seen, ticket))
                .map(seen -> refused(seen, ticket, client));
    }

    /** The relay has the first place, but may be over: then that is cleared away, and the next one's turn. */
    private Optional<Answer> takeFromRelay(Session session, LockSql sql, Ticket ticket, Sight seen)
            throws SQLException {
        BatonSql baton = sql.baton(ticket.name());
        if (!baton.tryTake(session.connection())) {
            return Optional.of(refused(seen, ticket, ticket.owner().client()));
        }
        try {
            sql.dropFirst(session, ticket, seen);
            return take(session, sql, ticket, ticket.owner().client());
        } finally {
            baton.letGo(session.connection());
        }
    }

    private Optional<Answer> take(Session session, LockSql sql, Ticket ticket, String client) throws SQLException {
        return sql.take(session, ticket, client, context.time().nanoTime()).map(Answer.class::cast);
    }

    /** Who waits needs a place, and renews it in good time; and somebody has to clear away the places of the dead. */
    private boolean shouldStandInLine(Sight seen, Ticket ticket) {
        if (!bells.wasRefused(ticket.name())) {
            return false;
        }
        return !seen.keepsPlace(ticket.owner().client(), Kind.of(ticket.demand())) || seen.hasDeadFirst();
    }

    /** Empty if there is no row. */
    private Optional<Answer> askWithRowLocked(Ticket ticket, Deadline deadline) {
        String client = ticket.owner().client();
        return requests.transact(ticket.name(), deadline, (session, sql) -> {
            long baseNanos = context.time().nanoTime();
            Optional<LockedRow> row = LockedRow.lock(session, sql, ticket.name());
            if (row.isEmpty()) {
                return Optional.empty();
            }
            Optional<Answer.Taken> grant = row.get().grant(ticket, baseNanos);
            if (grant.isPresent()) {
                return Optional.of(grant.get());
            }
            if (bells.wasRefused(ticket.name())) {
                row.get().standInLine(client, Kind.of(ticket.demand()));
            }
            return Optional.of(refused(row.get().sight(), ticket, client));
        });
    }

    /** @param client in whose name it stands in line, if it waits */
    private Answer refused(Sight seen, Ticket ticket, String client) {
        String name = ticket.name();
        Optional<Duration> timeLeft =
                seen.isHeld() ? Optional.of(LockSql.ofMicros(seen.heldUntil() - seen.now())) : Optional.empty();
        if (!bells.isListened(name)) {
            return new Answer.Refused(new Refusal(timeLeft, seen.reason()));
        }
        // The first time it has not taken its place yet.
        if (!bells.isFirstRefusal(name)) {
            bells.stands(name, seen.waiting().ahead(client, Kind.of(ticket.demand())));
            listenForTurn();
        }
        return new Answer.Refused(new Refusal(timeLeft, Optional.of(pause(name, client)), seen.reason()));
    }

    private Duration pause(String name, String client) {
        if (isHearing() && bells.isStanding(name)) {
            return Bells.LONGEST_PAUSE;
        }
        Duration pause = bells.pause(name);
        boolean tooLong = client.equals(Line.RELAY) && pause.compareTo(LONGEST_PAUSE_WITH_BATON) > 0;
        return tooLong ? LONGEST_PAUSE_WITH_BATON : pause;
    }

    private void listenForTurn() {
        if (bell != null) {
            bell.wanted();
        }
    }

    /** Best effort: a place nobody keeps lapses by itself. */
    private void leaveLine(String name) {
        inBackground("leave the line of lock '" + name + "'", deadline -> {
            requests.transact(name, deadline, (session, sql) -> {
                Optional<LockedRow> row = LockedRow.lock(session, sql, name);
                if (row.isPresent() && !bells.isListened(name)) {
                    row.get().leaveLine(context.clientId());
                }
                return row.isPresent();
            });
        });
    }

    /** Clears away what dead readers left of locks nobody has shared since: in nobody's way, but not to be kept either. */
    private void sweepNowAndThen() {
        long last = sweptNanos.get();
        long now = context.time().nanoTime();
        if (now - last > SWEEP_PERIOD.toNanos() && sweptNanos.compareAndSet(last, now)) {
            inBackground(
                    "clear away expired holders",
                    deadline -> requests.run("*", deadline, (session, sql) -> session.update(sql.pruneMembers)));
        }
    }

    private void inBackground(String what, Consumer<Deadline> work) {
        try {
            context.background().execute(() -> {
                try {
                    work.accept(Deadline.after(context.time(), BACKGROUND_WORK));
                } catch (LockException e) {
                    LOG.log(Level.DEBUG, () -> "Could not " + what + ": " + e);
                }
            });
        } catch (RuntimeException | Error e) {
            // Closed, or in whatever trouble: it is nothing that whoever asks for a lock should hear of.
            LOG.log(Level.DEBUG, () -> "Did not " + what + ": " + e);
        }
    }

    /** In a statement of its own: an insert inside a transaction that looked for the row first can deadlock on its gap. */
    private void createRow(String name, long token, Deadline deadline) {
        requests.run(name, deadline, (session, sql) -> session.update(sql.createFree, sql.name(name), token));
    }

    @Override
    public void renew(List<Ticket> tickets, Deadline deadline) {
        renewals.renew(tickets, Ticket::ttl, deadline);
        // Nobody will release those that are gone.
        tickets.stream().filter(ticket -> ticket.state() == Ticket.State.ENDED).forEach(relayed::giveUpBaton);
    }

    @Override
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        renewals.renew(List.of(ticket), any -> ttl, deadline);
    }

    @Override
    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        if (!isForAlone(ticket)) {
            return leave(ticket, linger, deadline);
        }
        boolean released = relayed.release(ticket, linger, deadline);
        return released ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
    }

    private ReleaseAnswer leave(Ticket ticket, Duration linger, Deadline deadline) {
        return requests.transact(ticket.name(), deadline, (session, sql) -> {
            Optional<LockedRow> row = LockedRow.lock(session, sql, ticket.name());
            return row.isPresent() ? row.get().leave(ticket, linger) : ReleaseAnswer.NOT_HELD;
        });
    }

    @Override
    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        relayed.giveUpBaton(ticket);
        boolean removed;
        if (isForAlone(ticket)) {
            removed = requests.run(
                            ticket.name(),
                            deadline,
                            (session, sql) -> session.update(
                                    sql.withdraw,
                                    sql.name(ticket.name()),
                                    ticket.owner().toString()))
                    == 1;
        } else {
            removed = leave(ticket, Duration.ZERO, deadline) == ReleaseAnswer.RELEASED;
        }
        return removed ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }

    @Override
    public void downgrade(Ticket exclusive, Deadline deadline) {
        String name = exclusive.name();
        boolean done = requests.transact(name, deadline, (session, sql) -> {
            Optional<LockedRow> row = LockedRow.lock(session, sql, name);
            return row.isPresent() && row.get().downgrade(exclusive);
        });
        relayed.giveUpBaton(exclusive);
        if (done) {
            exclusive.downgraded();
        } else {
            exclusive.gone(LossReason.GONE, "the database no longer has it for this owner");
        }
    }

    @Override
    public void raise(String name, long floor, Deadline deadline) {
        createRow(name, floor, deadline);
        requests.run(name, deadline, (session, sql) -> session.update(sql.raise, floor, sql.name(name), floor));
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        return requests.transact(name, deadline, (session, sql) -> {
            Optional<LockedRow> row = LockedRow.lock(session, sql, name);
            return row.isPresent() ? row.get().disperse() : 0;
        });
    }

    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return requests.run("*", deadline, (session, sql) -> {
            session.update(sql.pruneMembers);
            long idle = LockSql.micros(idleFor);
            return session.update(sql.prune, idle, idle, idle);
        });
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return Views.one(
                name,
                requests,
                deadline,
                (session, sql) -> session.query(sql.viewRow, row -> Views.Line.read(sql, row), sql.name(name)));
    }

    @Override
    public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
        return Views.page(
                prefix,
                limit,
                requests,
                deadline,
                (session, sql) -> session.query(
                        sql.viewRows,
                        row -> Views.Line.read(sql, row),
                        sql.name(prefix),
                        sql.name(prefix),
                        sql.name(prefix),
                        sql.name(after.orElse("")),
                        limit));
    }

    @Override
    public void ping(Deadline deadline) {
        requests.run("*", deadline, (session, sql) -> session.query("SELECT 1", row -> row.getInt(1)));
    }

    @Override
    public Hints listen(String name, Demand demand, Runnable ring) {
        return bells.listen(name, demand, ring);
    }

    private boolean isHearing() {
        return bell != null && bell.isHearing();
    }

    @Override
    public void close() {
        if (bell != null) {
            bell.close();
        }
        relayed.close();
        connections.close();
    }
}
