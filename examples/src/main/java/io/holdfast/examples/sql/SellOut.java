package io.holdfast.examples.sql;

import io.holdfast.Holdfast;
import io.holdfast.examples.Examples;
import io.holdfast.jdbc.JdbcStores;
import io.holdfast.jdbc.RecipeSchema;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;

/**
 * The three ways to sell out side by side, on a database of yours.
 *
 * <p>Run it with {@code --store} and a JDBC URL, such as {@code jdbc:postgresql://localhost/test?user=test}.
 */
public final class SellOut {

    private static final int PIECES = 20;
    private static final int CUSTOMERS = 50;

    private SellOut() {}

    public static void main(String[] args) throws Exception {
        String url = Examples.option("--store", args).orElse("");
        if (!url.startsWith("jdbc:")) {
            throw new IllegalArgumentException(
                    "This one needs a database: --store jdbc:postgresql://localhost/test?user=test");
        }
        DataSource database = new UrlDataSource(url);
        RecipeSchema.create(database);
        StockTable.create(database);
        try (Holdfast holdfast = Holdfast.builder()
                .store(JdbcStores.using(database).withSchemaCreated())
                .connect()) {
            Map<String, Shop> shops = new LinkedHashMap<>();
            shops.put("lease lock and fence", new StockWithLeaseLock(holdfast, database));
            shops.put("transaction lock", new StockWithTransactionLock(database));
            shops.put("version guard", new StockWithVersionGuard(database));
            for (Map.Entry<String, Shop> shop : shops.entrySet()) {
                String sku = "sku-" + System.nanoTime();
                StockTable.put(database, sku, PIECES);
                long start = System.nanoTime();
                int sold = sellToEverybody(shop.getValue(), sku, CUSTOMERS);
                System.out.printf(
                        "%-22s %d of %d sold to %d customers in %d ms%n",
                        shop.getKey(), sold, PIECES, CUSTOMERS, (System.nanoTime() - start) / 1_000_000);
            }
        }
    }

    static int sellToEverybody(Shop shop, String sku, int customers) throws InterruptedException, ExecutionException {
        ExecutorService threads = Executors.newFixedThreadPool(10);
        List<Future<Boolean>> purchases = threads.invokeAll(Collections.nCopies(customers, () -> shop.sell(sku)));
        threads.shutdown();
        int sold = 0;
        for (Future<Boolean> purchase : purchases) {
            sold += purchase.get() ? 1 : 0;
        }
        return sold;
    }
}
