package io.holdfast.examples.shop;

import io.holdfast.spring.Locked;
import io.holdfast.spring.OnConflict;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;

/** Pieces on stock. Selling one checks, takes the money and then writes, so two must not do so at a time. */
@Service
public class Stock {

    private static final Duration PAYMENT = Duration.ofMillis(10);

    private final JdbcTemplate database;

    Stock(JdbcTemplate database) {
        this.database = database;
    }

    /** What came of an order. */
    public enum Sale {
        SOLD,
        SOLD_OUT,
        TRY_AGAIN
    }

    @Locked(name = "stock/#{#sku}", maxWait = "10s", onConflict = OnConflict.FALLBACK, fallback = "tooMany")
    public Sale sell(String sku) {
        return sellUnlocked(sku);
    }

    /** The same without a lock: all who find the last piece sell it. */
    public Sale sellUnlocked(String sku) {
        if (pieces(sku) <= 0) {
            return Sale.SOLD_OUT;
        }
        LockSupport.parkNanos(PAYMENT.toNanos());
        database.update("UPDATE stock SET pieces = pieces - 1 WHERE sku = ?", sku);
        return Sale.SOLD;
    }

    Sale tooMany(String sku) {
        return Sale.TRY_AGAIN;
    }

    /** Below zero, if more were sold than there were. */
    public int pieces(String sku) {
        return database.queryForObject("SELECT pieces FROM stock WHERE sku = ?", Integer.class, sku);
    }

    @Locked("stock/#{#sku}")
    public void fill(String sku, int pieces) {
        if (database.update("UPDATE stock SET pieces = ? WHERE sku = ?", pieces, sku) == 0) {
            database.update("INSERT INTO stock VALUES (?, ?)", sku, pieces);
        }
    }

    public int skus() {
        return database.queryForObject("SELECT count(*) FROM stock", Integer.class);
    }
}
