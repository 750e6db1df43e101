package io.holdfast;

import static org.awaitility.Awaitility.await;

import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;

/** Runs what it was given only when told to. The client hands it over on threads of its own, so it may take a moment to arrive. */
final class ManualExecutor implements Executor {

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    /** Waits until so many are to be run. */
    void awaitTasks(int number) {
        await().until(() -> tasks.size() >= number);
    }

    /** Runs all that have arrived, and what they hand on in turn. */
    void runAll() {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    /** Runs what arrives until it is so. */
    void runUntil(Callable<Boolean> condition) {
        await().until(() -> {
            runAll();
            return condition.call();
        });
    }
}
