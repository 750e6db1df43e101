package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/** One server, and the connections to it that requests share. Thread-safe. */
public interface Node extends AutoCloseable {

    /** Who may have a connection when all shared ones are in use. */
    enum Urgency {
        /** Waits until one is given back. */
        SHARED,
        /** What keeps leases alive or ends them may have one of a few more: it must not wait behind those who want a lock. */
        EXTRA
    }

    /**
     * A connection on loan.
     *
     * @param onReturn runs when it is given back or dropped
     * @param readTimeoutMillis what its owner had set; each request sets its own
     */
    record LentConnection(Connection connection, Runnable onReturn, int readTimeoutMillis) {

        public LentConnection(Connection connection, Runnable onReturn) {
            this(connection, onReturn, connection.getSoTimeout());
        }

        /** Sends one command and reads its reply by the deadline. */
        Object call(Deadline deadline, Command command, String... arguments) {
            connection.setSoTimeout(DeadlineSockets.millisLeft(deadline));
            connection.sendCommand(command, arguments);
            return connection.getOne();
        }
    }

    /** Tells servers apart, for programs and for people. */
    String id();

    /** @throws redis.clients.jedis.exceptions.JedisException if there is none by the deadline: nothing was sent */
    LentConnection borrow(Urgency urgency, Deadline deadline);

    /** For one whose last reply was read in full. */
    void giveBack(LentConnection lent);

    /** For one that failed, or whose reply was not read. */
    void drop(LentConnection lent);

    /** Closes the idle connections: one broke, so the others probably did too. */
    void closeIdle();

    /** Closes connections that have been idle for long. */
    default void closeLongIdle() {}

    /** A connection of one's own, to be ended with {@link #drop}. */
    LentConnection open(Deadline deadline);

    @Override
    void close();
}
