package io.holdfast.examples;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Many buyers, few items: with the lock, and a warehouse that refuses stale tokens, none is sold twice. */
public final class OversoldStock {

    private static final int ITEMS = 10;
    private static final int BUYERS = 50;

    public static void main(String[] args) throws Exception {
        try (Holdfast holdfast = Examples.connect(args)) {
            Warehouse open = new Warehouse(ITEMS);
            System.out.println("without a lock: sold " + sellUnguarded(open, BUYERS) + " of " + ITEMS);
            Warehouse guarded = new Warehouse(ITEMS);
            System.out.println("with the lock:  sold " + sell(holdfast, guarded, BUYERS) + " of " + ITEMS);
        }
    }

    static int sell(Holdfast holdfast, Warehouse warehouse, int buyers)
            throws InterruptedException, ExecutionException {
        DistributedLock lock = holdfast.lock("stock/sku-42");
        return everybody(warehouse, buyers, () -> {
            try (Lease lease = lock.acquire()) {
                buy(warehouse, lease.token());
            }
            return null;
        });
    }

    static int sellUnguarded(Warehouse warehouse, int buyers) throws InterruptedException, ExecutionException {
        return everybody(warehouse, buyers, () -> {
            buy(warehouse, Long.MAX_VALUE);
            return null;
        });
    }

    /** Reads, thinks, writes: right only if nobody else does so meanwhile. */
    private static void buy(Warehouse warehouse, long token) {
        int left = warehouse.left();
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        if (left > 0) {
            warehouse.sellOne(left, token);
        }
    }

    private static int everybody(Warehouse warehouse, int buyers, Callable<Void> buyer)
            throws InterruptedException, ExecutionException {
        ExecutorService threads = Executors.newFixedThreadPool(buyers);
        List<Future<Void>> purchases = threads.invokeAll(Collections.nCopies(buyers, buyer));
        threads.shutdown();
        for (Future<Void> purchase : purchases) {
            purchase.get();
        }
        return warehouse.sold();
    }

    /** Stands for a database row: reading and writing it are two steps. The last token it saw is its fence. */
    static final class Warehouse {

        private int left;
        private int sold;
        private long lastToken;

        Warehouse(int items) {
            this.left = items;
        }

        synchronized int left() {
            return left;
        }

        synchronized int sold() {
            return sold;
        }

        synchronized void sellOne(int seen, long token) {
            if (token < lastToken) {
                throw new IllegalStateException("token " + token + " is stale, " + lastToken + " was here already");
            }
            lastToken = token;
            left = seen - 1;
            sold++;
        }
    }
}
