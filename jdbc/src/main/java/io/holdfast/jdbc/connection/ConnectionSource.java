package io.holdfast.jdbc.connection;

import io.holdfast.jdbc.connection.Connections.Purpose;
import io.holdfast.spi.Deadline;
import java.sql.Connection;
import java.sql.SQLException;

/** Where connections come from: a pool of ours, or the user's. Thread-safe. */
interface ConnectionSource extends AutoCloseable {

    /** A connection in autocommit mode, lent by the deadline. */
    Loan take(Purpose purpose, Deadline deadline) throws SQLException, InterruptedException;

    /** @param merelySlow if a connection did not break but was not heard of in time */
    void distrust(boolean merelySlow);

    @Override
    void close();

    /** A connection until its end, which gives it back. */
    record Loan(Connection connection, Runnable end) {}
}
