package io.holdfast.tck.process;

import io.holdfast.DistributedLock;
import io.holdfast.Fairness;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A process that takes and releases a lock until killed or told to end, and writes down when it held it. */
final class LockingProcess {

    private LockingProcess() {}

    /** URI, lock, ttl in seconds, threads, log file, and a file whose coming tells it to end. */
    public static void main(String[] arguments) throws Exception {
        LockOptions options = LockOptions.defaults()
                .withTtl(Duration.ofSeconds(Long.parseLong(arguments[2])))
                .withFairness(Fairness.FIFO);
        Path log = Path.of(arguments[4]);
        Path end = Path.of(arguments[5]);
        try (Holdfast holdfast = Holdfast.connect(arguments[0])) {
            DistributedLock lock = holdfast.lock(arguments[1], options);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < Integer.parseInt(arguments[3]); i++) {
                Thread thread = new Thread(() -> work(lock, log, end));
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    private static void work(DistributedLock lock, Path log, Path end) {
        while (Files.notExists(end)) {
            try (Lease lease = lock.acquire()) {
                long entered = System.nanoTime();
                write(log, "in " + lease.token() + " " + entered);
                // Before it is asked whether the lease was valid till then: afterwards another may come in.
                long left = System.nanoTime();
                if (lease.isValid()) {
                    write(log, "out " + lease.token() + " " + left);
                }
            } catch (LockException e) {
                write(log, "trouble " + e.getMessage());
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private static void write(Path log, String line) {
        try {
            Files.writeString(log, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
