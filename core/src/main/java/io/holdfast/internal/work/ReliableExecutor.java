package io.holdfast.internal.work;

import io.holdfast.spi.StoreContext.Timer;
import io.holdfast.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs tasks on the client's own threads. Whatever is thrown when a task is handed over, be it
 * for want of memory for one more thread, the task runs, and runs once. Only a closed client refuses it, with a
 * {@link RejectedExecutionException}. Thread-safe.
 */
public final class ReliableExecutor implements Executor {

    private static final Logger LOG = System.getLogger(ReliableExecutor.class.getName());

    private static final long RETRY_NANOS = Duration.ofMillis(50).toNanos();

    private final Executor own;
    private final Timer timer;
    private final TimeSource time;

    public ReliableExecutor(Executor own, Timer timer, TimeSource time) {
        this.own = own;
        this.timer = timer;
        this.time = time;
    }

    @Override
    public void execute(Runnable task) {
        handOver(new RunOnce(task));
    }

    private void handOver(RunOnce task) {
        try {
            own.execute(task);
        } catch (RejectedExecutionException closed) {
            throw closed;
        } catch (RuntimeException | Error e) {
            LOG.log(Level.WARNING, "A task could not be started, trying again", e);
            timer.at(time.nanoTime() + RETRY_NANOS, () -> tryAgain(task));
        }
    }

    private void tryAgain(RunOnce task) {
        try {
            handOver(task);
        } catch (RejectedExecutionException closed) {
            task.run();
        }
    }
}
