package io.holdfast.internal.acquire;

import io.holdfast.spi.StoreContext.Alarm;
import io.holdfast.spi.StoreContext.Timer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

/** The tickets that this client has given up in the queue of one lock and that are being removed from it. Thread-safe. */
final class Withdrawals {

    /** The next request waits no longer than this for a store that hangs while a ticket is removed. */
    private static final long LONGEST_NANOS = Duration.ofMillis(100).toNanos();

    private static final CompletableFuture<Void> NONE = CompletableFuture.completedFuture(null);

    private final AtomicReference<CompletableFuture<Void>> all = new AtomicReference<>(NONE);

    /** @param tried completes when the store was asked to remove it, with or without success */
    void add(CompletableFuture<Void> tried, Timer timer, long nowNanos) {
        all.updateAndGet(earlier -> earlier.isDone() ? tried : CompletableFuture.allOf(earlier, tried));
        if (!tried.isDone()) {
            limit(tried, timer, nowNanos + LONGEST_NANOS);
        }
    }

    /** Never throws: the caller is in the midst of ending an acquisition. Without an alarm nobody waits for it. */
    private static void limit(CompletableFuture<Void> tried, Timer timer, long atNanos) {
        try {
            Alarm limit = timer.at(atNanos, () -> tried.complete(null));
            tried.thenRun(limit::cancel);
        } catch (RuntimeException | Error e) {
            tried.complete(null);
        }
    }

    /** Completes when those are over that are under way now: in 100 ms at most, whoever gives up meanwhile. */
    CompletableFuture<Void> underWay() {
        return all.get();
    }
}
