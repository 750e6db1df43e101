package io.holdfast.jdbc;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A statement that waits for a session lock. Another thread can end it by cancelling the statement. */
record PreparedWait(PreparedStatement prepared) implements AutoCloseable {

    Statement statement() {
        return prepared;
    }

    Baton.Arrival await() throws SQLException {
        try (ResultSet rows = prepared.executeQuery()) {
            rows.next();
            return switch (rows.getInt(1)) {
                case 1 -> Baton.Arrival.AT_ONCE;
                case 2 -> Baton.Arrival.AFTER_OTHERS;
                default -> Baton.Arrival.USELESS;
            };
        }
    }

    @Override
    public void close() throws SQLException {
        prepared.close();
    }
}
