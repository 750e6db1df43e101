package io.holdfast.examples.sql;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.jdbc.Fence;
import java.sql.Connection;
import javax.sql.DataSource;

/**
 * Stock sold under a lease lock, with a fence. The lock can be in another system and held across several transactions and
 * calls; in exchange its holder can lose it, so every transaction shows its token first.
 */
public final class StockWithLeaseLock implements Shop {

    private final Holdfast holdfast;
    private final DataSource database;

    StockWithLeaseLock(Holdfast holdfast, DataSource database) {
        this.holdfast = holdfast;
        this.database = database;
    }

    @Override
    public boolean sell(String sku) throws Exception {
        try (Lease lease = holdfast.lock("stock/" + sku).acquire();
                Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            Fence.check(connection, "stock/" + sku, lease.token()); // throws if a newer holder was here
            boolean sold = StockTable.takeOne(connection, sku);
            connection.commit();
            return sold;
        }
    }
}
