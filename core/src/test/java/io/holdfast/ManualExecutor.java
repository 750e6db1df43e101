package io.holdfast;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;

/** Runs what it was given only when told to. */
final class ManualExecutor implements Executor {

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    /** Runs the next one. */
    void runOne() {
        tasks.remove().run();
    }

    /** Takes the next one out, for the test to run. */
    Runnable takeOne() {
        return tasks.remove();
    }

    /** Runs all, and what they hand on in turn. */
    void runAll() {
        while (!tasks.isEmpty()) {
            runOne();
        }
    }
}
