package io.holdfast.examples.sql;

import io.holdfast.jdbc.VersionGuard;
import javax.sql.DataSource;

/** Stock sold without a lock: who was too slow starts over. Best where two rarely want the same row. */
public final class StockWithVersionGuard implements Shop {

    private static final int TRIES = 100;

    private final VersionGuard guard = VersionGuard.of("stock", "sku", "version");
    private final DataSource database;

    StockWithVersionGuard(DataSource database) {
        this.database = database;
    }

    @Override
    public boolean sell(String sku) throws Exception {
        return guard.retrying(database, sku, TRIES, connection -> StockTable.takeOne(connection, sku));
    }
}
