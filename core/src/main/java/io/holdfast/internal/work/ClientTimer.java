package io.holdfast.internal.work;

import io.holdfast.spi.StoreContext.Alarm;
import io.holdfast.spi.StoreContext.Timer;
import io.holdfast.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One thread per client that runs short tasks at given times. It watches deadlines, so nothing that may block, above all
 * no I/O, belongs on it. Thread-safe.
 */
public final class ClientTimer implements Timer {

    private static final Logger LOG = System.getLogger(ClientTimer.class.getName());

    /** How long the thread sleeps at most when nothing is due: an hour, so that times never overflow. */
    private static final long IDLE_NANOS = 3_600_000_000_000L;

    private final TimeSource time;
    private final Thread thread;
    private final ReentrantLock guard = new ReentrantLock();
    private final TreeSet<Task> tasks = new TreeSet<>(Task::compare); // guarded by guard
    private long lastNumber; // guarded by guard
    private volatile boolean stopped;

    public ClientTimer(TimeSource time, String threadName) {
        this.time = time;
        this.thread = new Thread(this::loop, threadName);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public Alarm at(long nanos, Runnable task) {
        Task added;
        boolean first;
        guard.lock();
        try {
            added = new Task(nanos, ++lastNumber, task);
            tasks.add(added);
            first = tasks.first() == added;
        } finally {
            guard.unlock();
        }
        if (first) {
            LockSupport.unpark(thread);
        }
        return () -> remove(added);
    }

    /** Ends the thread; tasks to come are forgotten. */
    public void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }

    private void remove(Task task) {
        guard.lock();
        try {
            tasks.remove(task);
        } finally {
            guard.unlock();
        }
    }

    private void loop() {
        while (!stopped) {
            try {
                runOrWait();
            } catch (RuntimeException | Error e) {
                // The thread watches the deadlines of all leases: no task may end it, not even one that finds no
                // memory. One that is at work while the client closes may find its executor shut down.
                if (!stopped) {
                    say(e);
                }
            }
        }
    }

    private void runOrWait() {
        long now = time.nanoTime();
        Task due = null;
        long wakeAt = now + IDLE_NANOS;
        guard.lock();
        try {
            Task first = firstTask();
            if (first != null && first.nanos - now <= 0) {
                due = tasks.pollFirst();
            } else if (first != null) {
                wakeAt = first.nanos;
            }
        } finally {
            guard.unlock();
        }
        if (due == null) {
            time.parkUntil(this, wakeAt);
        } else {
            due.task.run();
        }
    }

    private @Nullable Task firstTask() {
        return tasks.isEmpty() ? null : tasks.first();
    }

    private static void say(Throwable failure) {
        try {
            LOG.log(Level.ERROR, "A timer task failed", failure);
        } catch (RuntimeException | Error noMemoryForThatEither) {
            // What matters is that the thread goes on.
        }
    }

    private record Task(long nanos, long number, Runnable task) {
        static int compare(Task a, Task b) {
            long difference = a.nanos - b.nanos;
            return difference != 0 ? Long.signum(difference) : Long.compare(a.number, b.number);
        }
    }
}
