package io.holdfast.jdbc;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A statement that waits for a session lock. Another thread can end it by cancelling the statement. */
record PreparedWait(PreparedStatement prepared) implements AutoCloseable {

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    Statement statement() {
        return prepared;
    }

    Baton.Arrival await() throws SQLException {
        try (ResultSet rows = prepared.executeQuery()) {
            rows.next();
            return switch (rows.getInt(1)) {
                case 1 -> Baton.Arrival.AT_ONCE;
                case 2 -> Baton.Arrival.AFTER_OTHERS;
                case 0 -> Baton.Arrival.TOO_LATE;
                default -> Baton.Arrival.USELESS;
            };
        } catch (SQLException e) {
            if (LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                return Baton.Arrival.TOO_LATE;
            }
            throw e;
        }
    }

    @Override
    public void close() throws SQLException {
        prepared.close();
    }
}
