package io.holdfast.spi;

import io.holdfast.Demand;

/** A store without a queue that can hint when asking again may pay. Hints may be lost or false: they only save time. */
public interface RingingStore extends LockStore {

    /**
     * Somebody begins to wait, or will if its first request is refused. Calls {@code ring} whenever the lock may have become
     * free, until the bell is closed. Returns at once.
     */
    Bell listen(String name, Demand demand, Runnable ring);

    /** Stops the hints. */
    @FunctionalInterface
    interface Bell extends AutoCloseable {
        @Override
        void close();
    }
}
