package io.holdfast.ui;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Wakes one reader when there is something new; however much came meanwhile, it is woken once. Thread-safe. */
final class News {

    private final Semaphore unread = new Semaphore(0);

    void tell() {
        if (unread.availablePermits() == 0) {
            unread.release();
        }
    }

    /** Returns when there is something new, or after that time. */
    void await(Duration longest) throws InterruptedException {
        if (unread.tryAcquire(longest.toNanos(), TimeUnit.NANOSECONDS)) {
            unread.drainPermits();
        }
    }
}
