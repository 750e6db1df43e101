package io.holdfast.internal;

import io.holdfast.spi.StoreContext.Timer;
import io.holdfast.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Hands tasks to the user's executor, if there is one, and to the client's own threads while that takes none. Somebody
 * waits for every task, so whatever is thrown on the way, be it for want of memory for one more thread, the task runs, and
 * runs once. Only a closed client refuses it, with a {@link RejectedExecutionException}. Thread-safe.
 */
final class Handover implements Executor {

    private static final Logger LOG = System.getLogger(Handover.class.getName());

    private static final long RETRY_NANOS = Duration.ofMillis(50).toNanos();

    private final @Nullable Executor users;
    private final Executor own;
    private final Timer timer;
    private final TimeSource time;

    Handover(@Nullable Executor users, Executor own, Timer timer, TimeSource time) {
        this.users = users;
        this.own = own;
        this.timer = timer;
        this.time = time;
    }

    @Override
    public void execute(Runnable task) {
        Once once = new Once(task);
        if (!usersTake(once)) {
            handToOwn(once);
        }
    }

    private boolean usersTake(Once once) {
        if (users == null) {
            return false;
        }
        try {
            users.execute(once);
            return true;
        } catch (RuntimeException | Error e) {
            LOG.log(Level.DEBUG, "The executor took no task", e);
            return false;
        }
    }

    private void handToOwn(Once once) {
        try {
            own.execute(once);
        } catch (RejectedExecutionException closed) {
            throw closed;
        } catch (RuntimeException | Error e) {
            LOG.log(Level.WARNING, "A task could not be started, trying again", e);
            timer.at(time.nanoTime() + RETRY_NANOS, () -> tryAgain(once));
        }
    }

    private void tryAgain(Once once) {
        try {
            handToOwn(once);
        } catch (RejectedExecutionException closed) {
            once.run();
        }
    }

    /** An executor may throw, for want of a thread, and still keep the task for a thread it has. */
    private static final class Once implements Runnable {

        private final AtomicReference<@Nullable Runnable> task;

        Once(Runnable task) {
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
}
