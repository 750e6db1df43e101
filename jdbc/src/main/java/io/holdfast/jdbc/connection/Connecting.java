package io.holdfast.jdbc.connection;

import io.holdfast.spi.Deadline;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Tries to connect on threads of its own, where a driver, a pool or a name lookup may hang without holding anybody up. Thread-safe.
 *
 * @param <C> what comes of a try
 */
final class Connecting<C> implements AutoCloseable {

    /** Opens one, however long that takes. */
    @FunctionalInterface
    interface Opener<C> {
        C open() throws SQLException;
    }

    private final Opener<C> opener;
    private final Consumer<C> unwanted;
    private final String where;
    private final ExecutorService threads;

    /**
     * @param unwanted gets what comes when nobody waits for it any more
     * @param where for people, without credentials
     * @param size how many connections are wanted: more tries than that may be under way, for those nobody waits for may hang
     */
    Connecting(Opener<C> opener, Consumer<C> unwanted, String where, int size, String clientName) {
        this.opener = opener;
        this.unwanted = unwanted;
        this.where = where;
        AtomicInteger number = new AtomicInteger();
        this.threads =
                new ThreadPoolExecutor(0, 4 * (size + 1), 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread =
                            new Thread(task, "holdfast-" + clientName + "-sql-connect-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
    }

    /** Starts a try that ends in {@code coming}; false if too many hang already, or this is closed. */
    boolean start(CompletableFuture<C> coming) {
        try {
            threads.execute(() -> run(coming));
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    private void run(CompletableFuture<C> coming) {
        try {
            C opened = opener.open();
            if (!coming.complete(opened)) {
                unwanted.accept(opened);
            }
        } catch (SQLException | RuntimeException | Error e) {
            coming.completeExceptionally(e);
        }
    }

    /** Waits for what comes, from the try or from elsewhere. What comes later is not wanted. */
    C await(CompletableFuture<C> coming, Deadline deadline) throws SQLException, InterruptedException {
        try {
            return coming.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new SQLTransientConnectionException(
                    "no connection to " + where + ": " + said(e.getCause()), e.getCause());
        } catch (TimeoutException e) {
            giveUp(coming);
            throw new SQLTimeoutException("no connection to " + where + " within the time allowed", e);
        } catch (InterruptedException e) {
            giveUp(coming);
            throw e;
        }
    }

    /** Whether it has come, or failed, by then. */
    boolean isOverBy(CompletableFuture<C> coming, Deadline deadline) throws InterruptedException {
        try {
            coming.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (ExecutionException e) {
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            giveUp(coming);
            throw e;
        }
    }

    /** In the driver's own words. */
    private static String said(Throwable failure) {
        return String.valueOf(failure.getMessage()).strip().replaceFirst("\\.+$", "");
    }

    private void giveUp(CompletableFuture<C> coming) {
        if (!coming.cancel(false) && !coming.isCompletedExceptionally()) {
            unwanted.accept(coming.join());
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
