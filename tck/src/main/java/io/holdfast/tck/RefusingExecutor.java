package io.holdfast.tck;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Where a client runs what nobody waits for, as long as it can start threads. For tests of what a store does then. */
public final class RefusingExecutor implements Executor, AutoCloseable {

    /** Whether no thread can be started. */
    public volatile boolean refuses;

    /** How many tasks were refused so far. */
    public final AtomicInteger refusals = new AtomicInteger();

    private final ExecutorService threads;

    /** @param factory makes its threads while it can */
    public RefusingExecutor(ThreadFactory factory) {
        threads = Executors.newCachedThreadPool(factory);
    }

    @Override
    public void execute(Runnable task) {
        if (refuses) {
            refusals.incrementAndGet();
            throw new Error("no thread can be started, as far as this test goes");
        }
        threads.execute(task);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
