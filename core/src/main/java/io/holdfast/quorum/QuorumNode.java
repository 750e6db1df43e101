package io.holdfast.quorum;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.support.Uninterruptibly;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** One of the stores, with threads of its own: if it hangs, the others are asked all the same. Thread-safe. */
final class QuorumNode {

    /** As many requests wait for one node at a time; further ones queue, and find their deadline passed if it hangs. */
    private static final int THREADS = 16;

    private static final long IDLE_SECONDS = 30;

    private final int number;
    private final LockStore store;
    private final ThreadPoolExecutor threads;
    /** Apart, so that cleaning up after a node that hangs does not use up what asks it. */
    private final ThreadPoolExecutor cleanup;

    private volatile boolean answering = true;
    private volatile boolean prompt = true;

    QuorumNode(int number, LockStore store, String clientName) {
        this.number = number;
        this.store = store;
        String role = "holdfast-" + clientName + "-quorum-" + (number + 1);
        this.threads = pool(THREADS, role);
        this.cleanup = pool(1, role + "-cleanup");
    }

    private static ThreadPoolExecutor pool(int size, String name) {
        AtomicInteger count = new AtomicInteger();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                size, size, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    int number() {
        return number;
    }

    LockStore store() {
        return store;
    }

    TokenRaisingStore raising() {
        return (TokenRaisingStore) store;
    }

    /** Whether it answered the last question, as far as is known. */
    boolean isAnswering() {
        return answering;
    }

    void setAnswering(boolean hasAnswered) {
        answering = hasAnswered;
    }

    /** Whether it was quick lately. */
    boolean isPrompt() {
        return prompt;
    }

    void setPrompt(boolean quick) {
        prompt = quick;
    }

    String name() {
        return store.traits().store();
    }

    void run(Runnable task) {
        execute(threads, task);
    }

    void runCleanup(Runnable task) {
        execute(cleanup, task);
    }

    private static void execute(ThreadPoolExecutor pool, Runnable task) {
        try {
            pool.execute(task);
        } catch (RejectedExecutionException e) {
            // The store is closed: what is still held is left to expire.
        }
    }

    void stopAsking() {
        threads.shutdown();
    }

    void awaitAnswers(Deadline deadline) {
        Uninterruptibly.await(deadline, threads::awaitTermination);
    }

    void stopCleanup() {
        cleanup.shutdown();
    }

    void awaitCleanup(Deadline deadline) {
        Uninterruptibly.await(deadline, cleanup::awaitTermination);
    }

    void close() {
        threads.shutdown();
        cleanup.shutdownNow();
        store.close();
    }
}
