package io.holdfast.servers;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A table of texts by key in a SQL database. */
final class JdbcTable {

    private JdbcTable() {}

    static void write(String url, String key, String value) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url)) {
            createTable(connection);
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO texts VALUES (?, ?)")) {
                insert.setString(1, key);
                insert.setString(2, value);
                insert.executeUpdate();
            }
        }
    }

    static String read(String url, String key) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url)) {
            createTable(connection);
            try (PreparedStatement select = connection.prepareStatement("SELECT v FROM texts WHERE k = ?")) {
                select.setString(1, key);
                ResultSet row = select.executeQuery();
                return row.next() ? row.getString(1) : "";
            }
        }
    }

    private static void createTable(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS texts (k VARCHAR(50), v VARCHAR(50))");
        }
    }
}
