package io.holdfast.jdbc;

import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.SqlFile;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** Creates the tables of {@link Fence}, {@link TransactionLock} and {@link JdbcIdempotency}. */
public final class RecipeSchema {

    private RecipeSchema() {}

    /** Creates what is not there, as {@code docs/stores/recipes-*.sql} do. */
    public static void create(DataSource dataSource) throws SQLException {
        Transactions.requireOwn(dataSource);
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            String server = Dialect.forRecipes(connection).resourceSuffix();
            for (String sql : SqlFile.statements("recipes-" + server + ".sql")) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute(sql);
                } catch (SQLException e) {
                    if (!SqlFile.isCollision(e)) {
                        throw e;
                    }
                }
            }
        }
    }
}
