package io.holdfast.bench;

import java.time.Duration;
import java.util.Map;

/**
 * One client of a lock library, in one JVM, as the bench sees it. Ours, another library's, or the raw round trips a lock
 * cannot avoid.
 *
 * <p>Thread-safe: many threads ask for mutexes and use them.
 */
public interface Contender extends AutoCloseable {

    /** The lock of this name, for use by one thread. */
    Mutex mutex(String name);

    /** Whether somebody else would get this lock now. For runs that hold many locks. */
    default boolean isFree(String name) throws Exception {
        throw new UnsupportedOperationException(getClass() + " cannot try a lock");
    }

    @Override
    void close() throws Exception;

    /** Makes contenders; has a public constructor without arguments, since workers know its class by name. */
    @FunctionalInterface
    interface Factory {

        Contender open(Map<String, String> settings) throws Exception;
    }

    /** A lock in the hands of one thread. */
    @FunctionalInterface
    interface Mutex {

        /** Waits as long as it takes. */
        Held acquire() throws Exception;

        /** The thread is done with it. */
        default void close() throws Exception {}
    }

    /** A lock that is held. */
    @FunctionalInterface
    interface Held {

        void release() throws Exception;

        /** Whether the library still considers it held. */
        default boolean isValid() {
            return true;
        }
    }

    /** The ttl of all contenders that have one, long enough to play no part. */
    Duration TTL = Duration.ofSeconds(30);
}
