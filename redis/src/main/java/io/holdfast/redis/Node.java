package io.holdfast.redis;

import io.holdfast.spi.Deadline;
import redis.clients.jedis.Connection;

/** One server, and the connections to it that requests share. Thread-safe. */
interface Node extends AutoCloseable {

    /** Who may have a connection when all shared ones are in use. */
    enum Urgency {
        /** Waits until one is given back. */
        SHARED,
        /** What keeps leases alive or ends them gets one more: it must not wait behind those who want a lock. */
        EXTRA
    }

    /**
     * A connection on loan.
     *
     * @param readTimeoutMillis what its owner had set; each request sets its own
     */
    record Line(Connection connection, Urgency urgency, int readTimeoutMillis) {

        Line(Connection connection, Urgency urgency) {
            this(connection, urgency, connection.getSoTimeout());
        }
    }

    /** Tells servers apart: the lane of the locks it serves. */
    String id();

    /** @throws redis.clients.jedis.exceptions.JedisException if there is none by the deadline: nothing was sent */
    Line borrow(Urgency urgency, Deadline deadline);

    /** For a line whose last reply was read in full. */
    void giveBack(Line line);

    /** For a line that failed, or whose reply was not read. */
    void drop(Line line);

    /** Closes the idle connections: one broke, so the others probably did too. */
    void forgetIdle();

    /** A line of one's own, to be ended with {@link #drop}. */
    Line open(Deadline deadline);

    @Override
    void close();
}
