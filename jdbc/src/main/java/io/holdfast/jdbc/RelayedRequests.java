package io.holdfast.jdbc;

import io.holdfast.jdbc.LockSql.Kind;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Asks for locks, to hold them alone, as one of those who queue for their batons. Thread-safe; see {@link Relay}. */
final class RelayedRequests implements AutoCloseable {

    /** Says no. */
    @FunctionalInterface
    interface Refusals {
        /** @param client in whose name the request stands in line */
        Answer refused(Sight seen, Ticket ticket, String client);
    }

    /** How long a free lock is left to whoever has its baton, who looks twice as often. */
    private static final Duration COURTESY = Duration.ofMillis(100);

    private final Requests requests;
    private final Relay relay;
    private final Bells bells;
    private final TimeSource time;
    private final Refusals refusals;
    private final Map<OwnerId, Baton> heldBatons = new ConcurrentHashMap<>();

    RelayedRequests(Requests requests, Relay relay, Bells bells, TimeSource time, Refusals refusals) {
        this.requests = requests;
        this.relay = relay;
        this.bells = bells;
        this.time = time;
        this.refusals = refusals;
    }

    /** As one who queues for the lock's baton, or should. Empty if the lock is to be asked for in the ordinary way. */
    Optional<Answer> ask(Ticket ticket, boolean patient, Deadline deadline) {
        String name = ticket.name();
        Baton baton = bells.baton(name);
        if (baton == null) {
            return patient && bells.mayQueue(name) && relay.isRunning(name) && queueForBaton(ticket)
                    ? Optional.of(askAgain(Bells.LONGEST_PAUSE, "others wait for it"))
                    : Optional.empty();
        }
        if (baton.isWaiting()) {
            return lookBehind(baton, ticket, deadline);
        }
        if (baton.isOurs()) {
            return askWith(baton, ticket, deadline);
        }
        bells.forget(name, baton);
        return Optional.empty();
    }

    /** Whether it now queues. */
    boolean queueForBaton(Ticket ticket) {
        String name = ticket.name();
        Optional<Baton> baton = requests.knownSql()
                .flatMap(sql -> relay.queue(name, sql.baton(name), () -> bells.ring(name), () -> bells.isSlow(name)));
        boolean queues = baton.isPresent() && bells.queuesFor(name, baton.get());
        if (baton.isPresent() && !queues) {
            relay.giveUp(baton.get());
        }
        return queues;
    }

    /** Has the baton: then the lock is free, or its holder took it in some other way. */
    private Optional<Answer> askWith(Baton baton, Ticket ticket, Deadline deadline) {
        Optional<Answer> answer = requests.runWith(baton, ticket.name(), deadline, (session, sql) -> {
            Optional<Answer> taken = takeInRelay(session, sql, ticket, baton);
            if (taken.isPresent()) {
                return taken;
            }
            baton.mayHaveFollowers();
            return lookInRelay(session, sql, ticket).map(seen -> refusals.refused(seen, ticket, Line.RELAY));
        });
        if (answer.isPresent() && answer.get() instanceof Answer.Taken) {
            bells.forget(ticket.name(), baton);
            baton.isUsed(time.nanoTime());
            heldBatons.put(ticket.owner(), baton);
        }
        return answer;
    }

    private Optional<Answer> takeInRelay(Session session, LockSql sql, Ticket ticket, Baton baton)
            throws SQLException {
        long baseNanos = time.nanoTime();
        boolean goesOn = baton.hasFollowers();
        Optional<Answer.Taken> grant = goesOn
                ? sql.takeInRelay(session, ticket, baseNanos)
                : sql.take(session, ticket, Line.RELAY, baseNanos);
        if (grant.isEmpty()) {
            return Optional.empty();
        }
        if (goesOn) {
            relay.runsUntil(ticket.name(), baseNanos + Line.KEPT.toNanos());
        } else {
            relay.isOver(ticket.name());
        }
        return grant.map(Answer.class::cast);
    }

    /** Queues for the baton: others have the lock, or something has happened to the baton. */
    private Optional<Answer> lookBehind(Baton baton, Ticket ticket, Deadline deadline) {
        return requests.run(ticket.name(), deadline, (session, sql) -> {
            Optional<Sight> seen = lookInRelay(session, sql, ticket);
            if (seen.isEmpty() || seen.get().refuses(ticket, Line.RELAY)) {
                return seen.map(sight -> askAgain(Bells.LONGEST_PAUSE, sight.reason()));
            }
            if (!baton.isLeftLying(seen.get().token())) {
                return Optional.of(askAgain(COURTESY, "another client is about to take it"));
            }
            Optional<Answer.Taken> grant = sql.takeInRelay(session, ticket, time.nanoTime());
            if (grant.isEmpty()) {
                return Optional.of(askAgain(COURTESY, "another client has just taken it"));
            }
            relay.mistrust(ticket.name());
            return grant.map(Answer.class::cast);
        });
    }

    private static Answer askAgain(Duration pause, String reason) {
        return new Answer.Refused(new Refusal(Optional.empty(), Optional.of(pause), reason));
    }

    /** Looks, and sees to it that the relay keeps its place in line. Empty if there is no row. */
    private Optional<Sight> lookInRelay(Session session, LockSql sql, Ticket ticket) throws SQLException {
        long nowNanos = time.nanoTime();
        Optional<Sight> seen = Sight.of(session, sql, ticket.name());
        if (seen.isPresent()) {
            if (seen.get().hasDeadFirst()) {
                sql.dropFirst(session, ticket, seen.get());
            }
            if (seen.get().keepsPlace(Line.RELAY, Kind.EXCLUSIVE)) {
                Duration left = seen.get().placeLeft(Line.RELAY, Kind.EXCLUSIVE);
                relay.runsUntil(ticket.name(), nowNanos + left.toNanos());
            } else if (sql.keepPlace(session, ticket, Line.RELAY)
                    || sql.stand(session, ticket, Line.RELAY).isPresent()) {
                relay.runsUntil(ticket.name(), nowNanos + Line.KEPT.toNanos());
            } else {
                relay.isOver(ticket.name());
            }
        }
        return seen;
    }

    /** Ends a grant, with the baton if it was got by it. Whether its owner still had it. */
    boolean release(Ticket ticket, Duration linger, Deadline deadline) {
        Baton baton = heldBatons.remove(ticket.owner());
        return baton != null && baton.isOurs()
                ? releaseWith(baton, ticket, linger, deadline)
                : requests.run(ticket.name(), deadline, (session, sql) -> sql.release(session, ticket, linger));
    }

    private boolean releaseWith(Baton baton, Ticket ticket, Duration linger, Deadline deadline) {
        if (baton.isStale(time.nanoTime())) {
            // A connection that was idle for long may be a dead one; nor is the line a fast one.
            try {
                return requests.run(ticket.name(), deadline, (session, sql) -> sql.release(session, ticket, linger));
            } finally {
                relay.giveUp(baton);
            }
        }
        try {
            return requests.runWith(
                    baton, ticket.name(), deadline, (session, sql) -> sql.releaseWithBaton(session, ticket, linger));
        } finally {
            baton.passOn();
        }
    }

    /** Of a lock that is not this client's any more, or not alone. */
    void giveUpBaton(Ticket ticket) {
        Baton baton = heldBatons.remove(ticket.owner());
        if (baton != null) {
            relay.giveUp(baton);
        }
    }

    @Override
    public void close() {
        relay.close();
        heldBatons.values().forEach(Baton::cutOff);
    }
}
