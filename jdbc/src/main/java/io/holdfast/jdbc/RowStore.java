package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.LeaseLostException;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.StoreUnavailableException;
import io.holdfast.jdbc.LockSql.Kind;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Grant;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.RingingStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Withdrawal;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
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
final class RowStore implements RingingStore, DowngradingStore, TokenRaisingStore, AdministeredStore {

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
    public Answer attempt(Request request, Deadline callersDeadline) {
        sweepNowAndThen();
        boolean late = callersDeadline.remaining().compareTo(SHORTEST_REQUEST) < 0;
        if (late && bells.isListened(request.name())) {
            return new Answer.Refused("no time was left to ask again");
        }
        Deadline deadline = callersDeadline.remaining().compareTo(TIME_TO_ANSWER) < 0
                ? Deadline.after(context.time(), TIME_TO_ANSWER)
                : callersDeadline;
        boolean patient = callersDeadline.remaining().compareTo(LONG_WAIT) > 0;
        if (isForAlone(request) && bells.isListened(request.name())) {
            Optional<Answer> answer = relayed.ask(request, patient, deadline);
            if (answer.isPresent()) {
                return answer.get();
            }
        }
        for (int tries = 0; tries < TRIES; tries++) {
            Optional<Answer> quick =
                    requests.run(request.name(), deadline, (session, sql) -> ask(session, sql, request));
            Optional<Answer> answer = quick.isPresent() ? quick : askWithRowLocked(request, deadline);
            if (answer.isPresent()) {
                if (answer.get() instanceof Answer.Granted) {
                    bells.admitted(request.name());
                } else if (patient && isForAlone(request) && bells.mayQueue(request.name())) {
                    relayed.queueForBaton(request);
                }
                return answer.get();
            }
            createRow(request.name(), 1, deadline);
        }
        throw new StoreUnavailableException(request.name(), "its row disappears as soon as it is there");
    }

    private static boolean isForAlone(Request request) {
        return request.demand() instanceof Demand.Exclusive;
    }

    /** Statements that stand for themselves: enough for an exclusive request and for most refusals. Empty if not. */
    private Optional<Answer> ask(Session session, LockSql sql, Request request) throws SQLException {
        boolean alone = isForAlone(request);
        String client = request.owner().client();
        if (alone && bells.needsPlace(request.name())) {
            // Just refused: that a place is missing is likelier than that the lock became free.
            Optional<Sight> stood = sql.stand(session, request, client);
            if (stood.isPresent() && !stood.get().hasDeadFirst()) {
                return stood.map(seen -> refused(seen, request, client));
            }
        }
        boolean looksFirst = alone && bells.isHardlyTurn(request.name());
        Optional<Answer> taken = alone && !looksFirst ? take(session, sql, request, client) : Optional.empty();
        if (taken.isPresent()) {
            return taken;
        }
        Optional<Sight> sight = Sight.of(session, sql, request.name());
        if (sight.isEmpty() && alone) {
            return sql.createTaken(session, request, context.time().nanoTime()).map(Answer.Granted::new);
        }
        if (looksFirst && sight.isPresent() && !sight.get().refuses(request, client)) {
            return take(session, sql, request, client);
        }
        if (sight.isPresent() && sight.get().isLeftToRelay()) {
            return alone ? takeFromRelay(session, sql, request, sight.get()) : Optional.empty();
        }
        return sight.filter(seen -> seen.refuses(request, client) && !shouldStandInLine(seen, request))
                .map(seen -> refused(seen, request, client));
    }

    /** The relay has the first place, but may be over: then that is cleared away, and the next one's turn. */
    private Optional<Answer> takeFromRelay(Session session, LockSql sql, Request request, Sight seen)
            throws SQLException {
        BatonSql baton = sql.baton(request.name());
        if (!baton.tryTake(session.connection())) {
            return Optional.of(refused(seen, request, request.owner().client()));
        }
        try {
            sql.dropFirst(session, request, seen);
            return take(session, sql, request, request.owner().client());
        } finally {
            baton.letGo(session.connection());
        }
    }

    private Optional<Answer> take(Session session, LockSql sql, Request request, String client) throws SQLException {
        return sql.take(session, request, client, context.time().nanoTime()).map(Answer.Granted::new);
    }

    /** Who waits needs a place, and renews it in good time; and somebody has to clear away the places of the dead. */
    private boolean shouldStandInLine(Sight seen, Request request) {
        if (!bells.wasRefused(request.name())) {
            return false;
        }
        return !seen.keepsPlace(request.owner().client(), Kind.of(request.demand())) || seen.hasDeadFirst();
    }

    /** Empty if there is no row. */
    private Optional<Answer> askWithRowLocked(Request request, Deadline deadline) {
        String client = request.owner().client();
        return requests.transact(request.name(), deadline, (session, sql) -> {
            long baseNanos = context.time().nanoTime();
            Optional<LockedRow> row = LockedRow.lock(session, sql, request.name());
            if (row.isEmpty()) {
                return Optional.empty();
            }
            Optional<Grant> grant = row.get().grant(request, baseNanos);
            if (grant.isPresent()) {
                return Optional.of(new Answer.Granted(grant.get()));
            }
            if (bells.wasRefused(request.name())) {
                row.get().standInLine(client, Kind.of(request.demand()));
            }
            return Optional.of(refused(row.get().sight(), request, client));
        });
    }

    /** @param client in whose name it stands in line, if it waits */
    private Answer refused(Sight seen, Request request, String client) {
        String name = request.name();
        Optional<Duration> timeLeft =
                seen.isHeld() ? Optional.of(LockSql.ofMicros(seen.heldUntil() - seen.now())) : Optional.empty();
        if (!bells.isListened(name)) {
            return new Answer.Refused(timeLeft, seen.reason());
        }
        // The first time it has not taken its place yet.
        if (!bells.isFirstRefusal(name)) {
            bells.stands(name, seen.waiting().ahead(client, Kind.of(request.demand())));
            listenForTurn();
        }
        return new Answer.Refused(timeLeft, Optional.of(pause(name, client)), seen.reason());
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
    public List<RenewalAnswer> renew(List<RenewalRequest> claims, Deadline deadline) {
        List<RenewalAnswer> answers = renewals.renew(claims, deadline);
        for (int i = 0; i < answers.size(); i++) {
            // Nobody will release it.
            if (answers.get(i) instanceof RenewalAnswer.Gone && claims.get(i).claim() instanceof Grant grant) {
                relayed.giveUpBaton(grant.request());
            }
        }
        return answers;
    }

    @Override
    public ReleaseAnswer release(Grant grant, Duration linger, Deadline deadline) {
        Request request = grant.request();
        if (!isForAlone(request)) {
            return leave(request, linger, deadline);
        }
        boolean released = relayed.release(request, linger, deadline);
        return released ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
    }

    private ReleaseAnswer leave(Request request, Duration linger, Deadline deadline) {
        return requests.transact(request.name(), deadline, (session, sql) -> {
            Optional<LockedRow> row = LockedRow.lock(session, sql, request.name());
            return row.isPresent() ? row.get().leave(request, linger) : ReleaseAnswer.NOT_HELD;
        });
    }

    @Override
    public Withdrawal withdraw(Request request, Deadline deadline) {
        relayed.giveUpBaton(request);
        boolean removed;
        if (isForAlone(request)) {
            removed = requests.run(
                            request.name(),
                            deadline,
                            (session, sql) -> session.update(
                                    sql.withdraw,
                                    sql.name(request.name()),
                                    request.owner().toString()))
                    == 1;
        } else {
            removed = leave(request, Duration.ZERO, deadline) == ReleaseAnswer.RELEASED;
        }
        return removed ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }

    @Override
    public Grant downgrade(Grant exclusive, Deadline deadline) {
        String name = exclusive.request().name();
        Grant shared = requests.transact(
                name,
                deadline,
                (session, sql) -> LockedRow.lock(session, sql, name)
                        .orElseThrow(() -> new LeaseLostException(name, exclusive.token(), "its row is gone"))
                        .downgrade(exclusive));
        relayed.giveUpBaton(exclusive.request());
        return shared;
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
        return Views.read(
                        requests,
                        name,
                        deadline,
                        (session, sql) -> session.query(sql.viewRow, row -> Views.Line.read(sql, row), sql.name(name)))
                .stream()
                .findFirst()
                .orElseGet(() -> LockView.free(name));
    }

    @Override
    public List<LockView> views(String prefix, Deadline deadline) {
        return Views.read(
                requests,
                prefix + "*",
                deadline,
                (session, sql) -> session.query(
                        sql.viewRows,
                        row -> Views.Line.read(sql, row),
                        sql.name(prefix),
                        sql.name(prefix),
                        sql.name(prefix)));
    }

    @Override
    public Bell listen(String name, Demand demand, Runnable ring) {
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
