package io.holdfast;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** What a thread of its own will have got. */
final class Background<T> extends CompletableFuture<T> {

    private final Thread thread;

    private Background(Callable<T> task) {
        this.thread = new Thread(() -> {
            try {
                complete(task.call());
            } catch (Exception | Error e) {
                completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
    }

    static <T> Background<T> run(Callable<T> task) {
        Background<T> background = new Background<>(task);
        background.thread.start();
        return background;
    }

    boolean isOn(Thread other) {
        return thread == other;
    }

    /** Whether it waits for somebody or for a time. */
    boolean isParked() {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }
}
