package io.holdfast.examples.sql;

import io.holdfast.jdbc.Idempotency;
import io.holdfast.jdbc.JdbcIdempotency;
import io.holdfast.jdbc.ResultCodec;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * An impatient customer clicks twice, a proxy repeats the request: one order. The order and the record that it was placed are
 * one transaction, so this holds whenever a server dies.
 */
public final class DuplicateOrder {

    private final JdbcIdempotency idempotency;

    DuplicateOrder(JdbcIdempotency idempotency) {
        this.idempotency = idempotency;
    }

    static void createTable(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "CREATE TABLE IF NOT EXISTS orders (number VARCHAR(60) PRIMARY KEY, content VARCHAR(200))");
        }
    }

    /**
     * @param requestId made by the customer's browser when the form was opened
     * @return the number of the order, the same for every repetition
     */
    String submit(String requestId, String content) throws SQLException, InterruptedException {
        return idempotency.runInTransaction(
                "order/" + requestId,
                Idempotency.fingerprint(content),
                Duration.ofDays(1),
                ResultCodec.strings(),
                (connection, lease) -> {
                    String number = "order-" + lease.token();
                    insert(connection, number, content);
                    return number;
                });
    }

    private static void insert(Connection connection, String number, String content) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("INSERT INTO orders (number, content) VALUES (?, ?)")) {
            statement.setString(1, number);
            statement.setString(2, content);
            statement.executeUpdate();
        }
    }
}
