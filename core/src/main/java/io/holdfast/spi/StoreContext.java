package io.holdfast.spi;

import java.util.concurrent.Executor;

/**
 * What a client lends the store it opens. Valid until the store is closed.
 *
 * @param clientId the random bits shared by all owner ids of this client
 * @param clientName the client's name for people
 * @param time the clock by which leases are judged
 * @param timer wakes up at given times; its thread watches deadlines, so tasks must be short and do no I/O
 * @param background for I/O no caller waits for; never refuses while the client is open
 */
public record StoreContext(String clientId, String clientName, TimeSource time, Timer timer, Executor background) {

    /** Runs short tasks at given times on one thread. */
    public interface Timer {

        /** The task runs once, unless cancelled before. */
        Alarm at(long nanos, Runnable task);
    }

    /** A task to come. */
    @FunctionalInterface
    public interface Alarm {
        void cancel();
    }
}
