package io.holdfast.jdbc;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A process of its own that takes a lock again and again and prints each time it had it: token, from, to. */
final class CountingProcess {

    /** What it prints first. */
    static final String READY = "ready";

    private CountingProcess() {}

    /** Arguments: the store's URL, the database's URL, the lock, its ttl, the counter, threads, rounds of each. */
    public static void main(String[] args) throws Exception {
        Duration ttl = Duration.parse(args[3]);
        int threads = Integer.parseInt(args[5]);
        int rounds = Integer.parseInt(args[6]);
        try (Holdfast client = Holdfast.connect(args[0])) {
            DistributedLock lock = client.lock(args[2], LockOptions.defaults().withTtl(ttl));
            System.out.println(READY);
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Thread thread = new Thread(() -> count(lock, args[1], args[4], rounds));
                thread.start();
                all.add(thread);
            }
            for (Thread thread : all) {
                thread.join();
            }
        }
    }

    private static void count(DistributedLock lock, String url, String counter, int rounds) {
        for (int done = 0; done < rounds; ) {
            try {
                Lease lease = lock.acquire();
                // Monotonic time is that of the machine: processes can be compared by it.
                long from = System.nanoTime();
                work(url, counter);
                long to = System.nanoTime();
                boolean held = lease.isValid();
                lease.release();
                if (held) {
                    System.out.println(lease.token() + " " + from + " " + to);
                }
                done++;
            } catch (LockException e) {
                System.err.println(e);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void work(String url, String counter) throws Exception {
        if (counter.equals("-")) {
            Thread.sleep(1); // Long enough for a second holder to be noticed.
            return;
        }
        try (Connection connection = DriverManager.getConnection(url)) {
            RecipeTest.write(connection, counter, RecipeTest.read(connection, counter) + 1);
        }
    }
}
