package io.holdfast.jdbc;

import io.holdfast.jdbc.Connections.Loan;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A session lock of the server, as one client stands to it: waits for it, has it, has done with it. It lives in a connection
 * that does nothing else. Thread-safe; see {@link Relay} for what it is good for.
 */
final class Baton {

    private enum State {
        WAITING,
        /** Its connection has the session lock. */
        OURS,
        /** The session lock is on its way to the next one, or will be as soon as it comes. */
        OVER
    }

    /** How a wait for it ended. */
    enum Arrival {
        /** Nobody else had it. */
        AT_ONCE,
        AFTER_OTHERS,
        /** The line is slow. */
        TOO_LATE,
        GIVEN_UP,
        /** The connection broke. */
        NEVER,
        /** There is a pooler in between, behind which session locks cannot be kept apart. */
        USELESS
    }

    private static final long STALE_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final int CANCELLATIONS = 3;
    private static final long CANCELLATION_MILLIS = 200;

    private final BatonSql sql;
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
    private final CountDownLatch waitOver = new CountDownLatch(1);
    private volatile @Nullable Loan loan;
    private volatile @Nullable Statement waiting;
    private final AtomicLong freeAtToken = new AtomicLong();
    private volatile boolean othersWait;
    private volatile long usedNanos;

    Baton(BatonSql sql) {
        this.sql = sql;
    }

    /** Queues for the session lock, however long it takes. */
    Arrival await(Loan lent) {
        Arrival arrival;
        loan = lent;
        try (PreparedWait wait = sql.prepareWait(lent.connection())) {
            waiting = wait.statement();
            // Given up before this line, it is not begun; after it, it is cancelled.
            arrival = isWaiting() ? wait.await() : Arrival.GIVEN_UP;
        } catch (SQLException | RuntimeException e) {
            // MySQL's driver stumbles over a connection cut off beneath it.
            arrival = isWaiting() ? Arrival.NEVER : Arrival.GIVEN_UP;
            lent.end(Loan.Condition.DOUBTFUL);
        } finally {
            waiting = null;
            waitOver.countDown();
        }
        othersWait = arrival == Arrival.AFTER_OTHERS;
        boolean got = arrival == Arrival.AT_ONCE || arrival == Arrival.AFTER_OTHERS;
        if (!got) {
            state.set(State.OVER);
            lent.end(Loan.Condition.AS_LENT);
        } else if (!state.compareAndSet(State.WAITING, State.OURS)) {
            release(lent);
        }
        return arrival;
    }

    /** Whether its connection has had nothing to do for so long that it may have been forgotten by somebody on the way. */
    boolean isStale(long nowNanos) {
        return nowNanos - usedNanos > STALE_NANOS;
    }

    void isUsed(long nowNanos) {
        usedNanos = nowNanos;
    }

    /** At the end of the client: its connection is cut off, and the server frees the session lock. */
    void cutOff() {
        Loan lent = loan;
        if (state.getAndSet(State.OVER) != State.OVER && lent != null) {
            lent.end(Loan.Condition.DOUBTFUL);
        }
    }

    boolean isWaiting() {
        return state.get() == State.WAITING;
    }

    boolean isOurs() {
        return state.get() == State.OURS;
    }

    /** Whether others waited when it was got, or may have come since. */
    boolean hasFollowers() {
        return othersWait;
    }

    /** It was of no use at once, so others may have queued behind it. */
    void mayHaveFollowers() {
        othersWait = true;
    }

    /** Whether the lock was free with the same last token when this client looked before: nobody has taken it since. */
    boolean isLeftLying(long token) {
        return freeAtToken.getAndSet(token) == token;
    }

    /** The one that has the session lock, while it is ours. */
    Connection connection() {
        Loan lent = loan;
        if (lent == null) {
            throw new IllegalStateException("it has not come yet");
        }
        return lent.connection();
    }

    /** Lets the next one have it. Does nothing if that has been done. */
    void passOn() {
        Loan lent = loan;
        if (state.compareAndSet(State.OURS, State.OVER) && lent != null) {
            release(lent);
        }
    }

    /** Its connection does not answer: the server passes it on when it notices. */
    void isBroken() {
        Loan lent = loan;
        if (state.compareAndSet(State.OURS, State.OVER) && lent != null) {
            lent.end(Loan.Condition.DOUBTFUL);
        }
    }

    /** It is not wanted any more, whether it has come or not. */
    void giveUp() {
        if (state.compareAndSet(State.WAITING, State.OVER)) {
            cancelWait();
        } else {
            passOn();
        }
    }

    /** More than once: a cancellation that comes a moment before its statement is for nothing. */
    private void cancelWait() {
        try {
            for (int tries = 0; tries < CANCELLATIONS; tries++) {
                Statement statement = waiting;
                if (statement != null) {
                    statement.cancel();
                }
                if (waitOver.await(CANCELLATION_MILLIS, TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
        } catch (SQLException | RuntimeException e) {
            // Then it is cut off, and the server finds out when it is this one's turn.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Loan lent = loan;
        if (lent != null) {
            lent.end(Loan.Condition.DOUBTFUL);
        }
    }

    private void release(Loan lent) {
        boolean free = false;
        try {
            free = sql.passOn(lent.connection());
        } catch (SQLException | RuntimeException e) {
            // The server frees it with the connection.
        } finally {
            lent.end(free ? Loan.Condition.AS_LENT : Loan.Condition.DOUBTFUL);
        }
    }
}
