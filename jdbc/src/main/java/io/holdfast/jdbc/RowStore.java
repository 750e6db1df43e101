package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.LeaseLostException;
import io.holdfast.LockView;
import io.holdfast.StoreUnavailableException;
import io.holdfast.jdbc.Connections.Purpose;
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
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each lock in a row of a table. Taking it alone is one conditional UPDATE by the server's clock; sharing it is a
 * short transaction that holds the row (see {@link Crowd}).
 */
final class RowStore implements RingingStore, DowngradingStore, TokenRaisingStore, AdministeredStore {

    /** How often a request looks again that saw the lock change between its two statements. */
    private static final int TRIES = 3;

    /** Asked right before the holder's time is up, a server would only say no once more. */
    private static final long SHORTEST_TIME_LEFT_MICROS = 1_000;

    private final StoreTraits traits;
    private final StoreContext context;
    private final Connections connections;
    private final Requests requests;
    private final Renewals renewals;
    private final Bells bells;

    RowStore(StoreTraits traits, StoreContext context, Connections connections, Requests requests) {
        this.traits = traits;
        this.context = context;
        this.connections = connections;
        this.requests = requests;
        this.renewals = new Renewals(requests, context.time());
        this.bells = new Bells();
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    @Override
    public Answer attempt(Request request, Deadline deadline) {
        if (request.demand() instanceof Demand.Exclusive) {
            return requests.run(request.name(), deadline, (session, sql) -> takeAlone(session, sql, request));
        }
        Answer answer = null;
        for (int tries = 0; answer == null; tries++) {
            if (tries == TRIES) {
                throw new StoreUnavailableException(request.name(), "its row disappears as soon as it is there");
            }
            answer = join(request, deadline);
        }
        return answer;
    }

    private Answer takeAlone(Session session, LockSql sql, Request request) throws SQLException {
        String reason = "its row changed all the time";
        long timeLeft = SHORTEST_TIME_LEFT_MICROS;
        for (int tries = 0; tries < TRIES; tries++) {
            long baseNanos = context.time().nanoTime();
            OptionalLong token = sql.take(session, request);
            if (token.isPresent()) {
                return granted(request, token.getAsLong(), baseNanos);
            }
            Optional<Obstacle> obstacle = Obstacle.find(session, sql, request.name());
            if (obstacle.isEmpty()) {
                baseNanos = context.time().nanoTime();
                token = sql.createTaken(session, request);
                if (token.isPresent()) {
                    return granted(request, token.getAsLong(), baseNanos);
                }
            } else if (!obstacle.get().isGone()) {
                leaveWish(session, sql, request, obstacle.get());
                reason = obstacle.get().reason();
                timeLeft = obstacle.get().timeLeftMicros();
                break;
            }
        }
        return new Answer.Refused(Optional.of(LockSql.ofMicros(Math.max(timeLeft, SHORTEST_TIME_LEFT_MICROS))), reason);
    }

    private static Answer granted(Request request, long token, long baseNanos) {
        return new Answer.Granted(new Grant(request, token, request.ttl(), baseNanos));
    }

    /** What keeps an exclusive request from its lock. */
    private record Obstacle(
            Kind kind, long timeLeftMicros, @Nullable String wantedKind) {

        static Optional<Obstacle> find(Session session, LockSql sql, String name) throws SQLException {
            return session
                    .query(
                            sql.look,
                            row -> new Obstacle(Kind.parse(row.getString(1)), row.getLong(2), row.getString(3)),
                            sql.name(name))
                    .stream()
                    .findFirst();
        }

        boolean isGone() {
            return timeLeftMicros <= 0 && (wantedKind == null || wantedKind.equals(Kind.EXCLUSIVE.text));
        }

        String reason() {
            return timeLeftMicros > 0 ? "it is held " + kind.text : "somebody waits for it who needs it " + wantedKind;
        }
    }

    private void leaveWish(Session session, LockSql sql, Request request, Obstacle obstacle) throws SQLException {
        if (obstacle.kind() != Kind.EXCLUSIVE
                && obstacle.timeLeftMicros() > 0
                && patience(request) == Crowd.Patience.WAITS) {
            session.update(
                    sql.wish,
                    Kind.EXCLUSIVE.text,
                    request.owner().client(),
                    Crowd.WISH_MICROS,
                    sql.name(request.name()),
                    Kind.EXCLUSIVE.text);
        }
    }

    private Crowd.Patience patience(Request request) {
        return bells.isListened(request.name()) ? Crowd.Patience.WAITS : Crowd.Patience.ASKS_ONCE;
    }

    private @Nullable Answer join(Request request, Deadline deadline) {
        Optional<Answer> answer = requests.transact(request.name(), Purpose.REQUEST, deadline, (session, sql) -> {
            long baseNanos = context.time().nanoTime();
            Optional<Crowd> crowd = Crowd.lock(session, sql, request.name());
            return crowd.isPresent()
                    ? Optional.of(crowd.get().join(request, patience(request), baseNanos))
                    : Optional.empty();
        });
        return answer.orElseGet(() -> {
            createRow(request.name(), 1, deadline);
            return null;
        });
    }

    /** In a statement of its own: an insert inside a transaction that looked for the row first can deadlock on its gap. */
    private void createRow(String name, long token, Deadline deadline) {
        requests.run(name, deadline, (session, sql) -> session.update(sql.createFree, sql.name(name), token));
    }

    @Override
    public List<RenewalAnswer> renew(List<RenewalRequest> claims, Deadline deadline) {
        return renewals.renew(claims, deadline);
    }

    @Override
    public ReleaseAnswer release(Grant grant, Duration linger, Deadline deadline) {
        Request request = grant.request();
        if (!(request.demand() instanceof Demand.Exclusive)) {
            return leave(request, linger, deadline);
        }
        int released = requests.run(
                request.name(),
                deadline,
                (session, sql) -> session.update(
                        sql.release,
                        LockSql.micros(linger),
                        sql.name(request.name()),
                        request.owner().toString()));
        return released == 1 ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
    }

    private ReleaseAnswer leave(Request request, Duration linger, Deadline deadline) {
        return requests.transact(request.name(), Purpose.REQUEST, deadline, (session, sql) -> {
            Optional<Crowd> crowd = Crowd.lock(session, sql, request.name());
            return crowd.isPresent() ? crowd.get().leave(request, linger) : ReleaseAnswer.NOT_HELD;
        });
    }

    @Override
    public Withdrawal withdraw(Request request, Deadline deadline) {
        boolean removed;
        if (request.demand() instanceof Demand.Exclusive) {
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
        return requests.transact(
                name,
                Purpose.REQUEST,
                deadline,
                (session, sql) -> Crowd.lock(session, sql, name)
                        .orElseThrow(() -> new LeaseLostException(name, exclusive.token(), "its row is gone"))
                        .downgrade(exclusive));
    }

    @Override
    public void raise(String name, long floor, Deadline deadline) {
        createRow(name, floor, deadline);
        requests.run(name, deadline, (session, sql) -> session.update(sql.raise, floor, sql.name(name), floor));
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        return requests.transact(name, Purpose.REQUEST, deadline, (session, sql) -> {
            Optional<Crowd> crowd = Crowd.lock(session, sql, name);
            return crowd.isPresent() ? crowd.get().disperse() : 0;
        });
    }

    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return requests.run("*", deadline, (session, sql) -> {
            session.update(sql.pruneMembers);
            return session.update(sql.prune, LockSql.micros(idleFor));
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
    public Bell listen(String name, Runnable ring) {
        return bells.listen(name, ring);
    }

    @Override
    public void close() {
        connections.close();
    }
}
