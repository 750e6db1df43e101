package io.holdfast.examples.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** A table of stock with the mistake in it that locks are for: it is read, thought about, and written back. */
final class StockTable {

    private StockTable() {}

    static void create(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS stock ("
                    + "sku VARCHAR(50) PRIMARY KEY, pieces INT NOT NULL, version BIGINT NOT NULL)");
        }
    }

    static void put(DataSource database, String sku, int pieces) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("INSERT INTO stock (sku, pieces, version) VALUES (?, ?, 1)")) {
            statement.setString(1, sku);
            statement.setInt(2, pieces);
            statement.executeUpdate();
        }
    }

    static int pieces(Connection connection, String sku) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT pieces FROM stock WHERE sku = ?")) {
            statement.setString(1, sku);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    /** Takes a piece if one is left. Right only if nobody else does so between the read and the write. */
    static boolean takeOne(Connection connection, String sku) throws SQLException {
        int left = pieces(connection, sku);
        if (left == 0) {
            return false;
        }
        try (PreparedStatement statement = connection.prepareStatement("UPDATE stock SET pieces = ? WHERE sku = ?")) {
            statement.setInt(1, left - 1);
            statement.setString(2, sku);
            statement.executeUpdate();
        }
        return true;
    }
}
