package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.support.EarliestAlarm;
import java.net.SocketTimeoutException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * Closes connections to a server on which no reply has come by its deadline, with one alarm for all of them. Not with a timeout of the
 * socket: with one, Java reads, polls and reads again where it would read once, and it does not end a write that blocks. Thread-safe.
 */
public final class ReplyDeadlines implements AutoCloseable {

    private final EarliestAlarm alarm;
    private final Set<Guard> guards = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    public ReplyDeadlines(StoreContext context) {
        this.alarm = new EarliestAlarm(context.timer(), this::cutLate);
    }

    /** @param cut closes the connection and returns at once, on any thread */
    public Guard guard(Runnable cut) {
        Guard guard = new Guard(cut);
        guards.add(guard);
        return guard;
    }

    private void cutLate() {
        for (Guard guard : guards) {
            Deadline deadline = guard.expected.get();
            if (deadline != null && deadline.hasPassed()) {
                guard.cut(deadline);
            } else if (deadline != null) {
                alarm.at(deadline.atNanos());
            }
        }
    }

    /** No reply is waited for any more: there may soon be no alarms. */
    @Override
    public void close() {
        closed = true;
        guards.forEach(Guard::cut);
    }

    /** Of one connection, used by one thread at a time. */
    public final class Guard {

        private final Runnable cut;
        /** By when the reply under way has to be here. Whoever takes it away, the reader or the alarm, has won. */
        private final AtomicReference<@Nullable Deadline> expected = new AtomicReference<>();

        private Guard(Runnable cut) {
            this.cut = cut;
        }

        /** Something is about to be sent. */
        public void expectBy(Deadline deadline) {
            expected.set(deadline);
            alarm.at(deadline.atNanos());
            if (closed) {
                cut(deadline);
            }
        }

        /** The reply is here. */
        void replied(Deadline deadline) {
            if (!expected.compareAndSet(deadline, null)) {
                throw late();
            }
        }

        /** Whether the connection was closed because no reply had come by then. */
        boolean isLate(Deadline deadline) {
            return expected.get() != deadline && deadline.hasPassed();
        }

        /** The connection is not used any more. */
        void end() {
            guards.remove(this);
        }

        private void cut() {
            Deadline deadline = expected.get();
            if (deadline != null) {
                cut(deadline);
            }
        }

        private void cut(Deadline deadline) {
            if (expected.compareAndSet(deadline, null)) {
                guards.remove(this);
                cut.run();
            }
        }
    }

    /** As Jedis says that a read took too long. */
    static JedisConnectionException late() {
        return new JedisConnectionException(timeout());
    }

    static SocketTimeoutException timeout() {
        return new SocketTimeoutException("Read timed out");
    }
}
