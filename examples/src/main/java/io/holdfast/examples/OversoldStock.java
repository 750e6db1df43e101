package io.holdfast.examples;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Many buyers, few items: with the lock, and a warehouse that refuses stale tokens, none is sold twice. */
public final class OversoldStock {

    public static void main(String[] args) throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect()) {
            Warehouse warehouse = new Warehouse(10);
            System.out.println("sold " + sell(holdfast, warehouse, 50) + " of 10, left " + warehouse.left());
        }
    }

    static int sell(Holdfast holdfast, Warehouse warehouse, int buyers) throws InterruptedException {
        DistributedLock lock = holdfast.lock("stock/sku-42");
        ExecutorService threads = Executors.newFixedThreadPool(buyers);
        for (int i = 0; i < buyers; i++) {
            threads.submit(() -> {
                try (Lease lease = lock.acquire()) {
                    int left = warehouse.left();
                    if (left > 0) {
                        warehouse.sellOne(left, lease.token());
                    }
                }
                return null;
            });
        }
        threads.shutdown();
        threads.awaitTermination(1, TimeUnit.MINUTES);
        return warehouse.sold();
    }

    /** Stands for a database row: reading and writing it are two steps. The last token it saw is its fence. */
    static final class Warehouse {

        private volatile int left;
        private volatile int sold;
        private volatile long lastToken;

        Warehouse(int items) {
            this.left = items;
        }

        int left() {
            return left;
        }

        int sold() {
            return sold;
        }

        void sellOne(int seen, long token) {
            if (token < lastToken) {
                throw new IllegalStateException("token " + token + " is stale, " + lastToken + " was here already");
            }
            lastToken = token;
            left = seen - 1;
            sold++;
        }
    }
}
