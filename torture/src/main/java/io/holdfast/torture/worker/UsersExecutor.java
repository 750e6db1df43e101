package io.holdfast.torture.worker;

import java.util.Locale;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The executor a worker lends its client for listeners and callbacks of losses: a small pool that can be made to fail. Thread-safe. */
public final class UsersExecutor implements Executor {

    /** What it does with tasks. */
    public enum Conduct {
        /** It runs them. */
        SERVES,
        /** It takes them and runs none before it serves again: all its threads are busy. */
        HANGS,
        /** It does not even return to those who bring some before it serves again. */
        BLOCKS,
        /** It refuses them: it is full. */
        REFUSES;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Conduct parse(String word) {
            return valueOf(word.toUpperCase(Locale.ROOT));
        }
    }

    private static final int THREADS = 2;

    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS, task -> {
        Thread thread = new Thread(task, "users-executor");
        thread.setDaemon(true);
        return thread;
    });

    private final ReentrantLock guard = new ReentrantLock();
    private final Condition changed = guard.newCondition();
    private volatile Conduct conduct = Conduct.SERVES;

    @Override
    public void execute(Runnable task) {
        waitWhile(Conduct.BLOCKS);
        if (conduct == Conduct.REFUSES) {
            throw new RejectedExecutionException("full");
        }
        threads.execute(() -> {
            waitWhile(Conduct.HANGS);
            task.run();
        });
    }

    void conduct(Conduct next) {
        guard.lock();
        try {
            conduct = next;
            changed.signalAll();
        } finally {
            guard.unlock();
        }
    }

    private void waitWhile(Conduct bad) {
        guard.lock();
        try {
            while (conduct == bad) {
                changed.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            guard.unlock();
        }
    }
}
