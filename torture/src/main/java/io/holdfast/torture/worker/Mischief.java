package io.holdfast.torture.worker;

import io.holdfast.torture.history.RecordedAcquisition;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Gives one thread's acquisition up from outside, some time after it began: nothing happens if it has ended by then, so no
 * interrupt hits what the thread does next. For one acquisition.
 */
final class Mischief implements AutoCloseable {

    private static final ScheduledExecutorService CLOCK = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "mischief");
        thread.setDaemon(true);
        return thread;
    });

    private final ReentrantLock lock = new ReentrantLock();
    private boolean over;

    private Mischief() {}

    static Mischief none() {
        return new Mischief();
    }

    /** @param how what {@code giveUp} does, for the history */
    static Mischief after(long millis, RecordedAcquisition acquisition, String how, Runnable giveUp) {
        Mischief mischief = new Mischief();
        CLOCK.schedule(() -> mischief.strike(acquisition, how, giveUp), millis, TimeUnit.MILLISECONDS);
        return mischief;
    }

    private void strike(RecordedAcquisition acquisition, String how, Runnable giveUp) {
        lock.lock();
        try {
            if (!over) {
                acquisition.givingUp(how);
                giveUp.run();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        // An uninterruptible lock: the interrupt that is on its way arrives before this returns, and ends here.
        lock.lock();
        try {
            over = true;
        } finally {
            lock.unlock();
        }
    }
}
