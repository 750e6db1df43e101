package io.holdfast.internal.work;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A task that runs once however often it is run: an executor may throw, for want of a thread, and still keep the task. */
final class RunOnce implements Runnable {

    private final AtomicReference<@Nullable Runnable> task;

    RunOnce(Runnable task) {
        this.task = new AtomicReference<>(task);
    }

    @Override
    public void run() {
        Runnable first = task.getAndSet(null);
        if (first != null) {
            first.run();
        }
    }
}
