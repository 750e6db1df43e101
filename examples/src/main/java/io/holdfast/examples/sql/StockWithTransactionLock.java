package io.holdfast.examples.sql;

import io.holdfast.jdbc.TransactionLock;
import java.sql.Connection;
import java.time.Duration;
import javax.sql.DataSource;

/** Stock sold under a lock that is part of the transaction: nothing to lose, nothing to renew, one database only. */
public final class StockWithTransactionLock implements Shop {

    private final TransactionLock locks;
    private final DataSource database;

    StockWithTransactionLock(DataSource database) {
        this.locks = TransactionLock.standard();
        this.database = database;
    }

    @Override
    public boolean sell(String sku) throws Exception {
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            if (!locks.tryLock(connection, "stock/" + sku, Duration.ofSeconds(10))) {
                throw new IllegalStateException("the shop is too busy");
            }
            boolean sold = StockTable.takeOne(connection, sku);
            connection.commit(); // and the lock is free
            return sold;
        }
    }
}
