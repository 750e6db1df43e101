package io.holdfast.spi;

import io.holdfast.Demand;

/** A store without a queue that can hint when asking again may pay. Hints may be lost or false: they only save time. */
public interface HintingStore extends LockStore {

    /**
     * Somebody begins to wait, or will if its first request is refused. Calls {@code hint} whenever the lock may have become
     * free, until the subscription is closed. Returns at once.
     */
    Hints listen(String name, Demand demand, Runnable hint);

    /** Stops the hints. */
    @FunctionalInterface
    interface Hints extends AutoCloseable {
        @Override
        void close();
    }
}
