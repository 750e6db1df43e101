package io.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A client of one lock store: the place where locks come from.
 *
 * <pre>{@code
 * try (Holdfast holdfast = Holdfast.connect("redis://localhost:6379")) {
 *     holdfast.lock("stock/sku-42").run(() -> recount());
 * }
 * }</pre>
 *
 * <p>Thread-safe and meant to be shared: one per store and process. Its threads are daemons and do not grow with the
 * number of locks, leases or waiters.
 */
public interface Holdfast extends AutoCloseable {

    /**
     * Connects to the store a URI names, as in {@code memory:}, {@code file:/var/lib/locks} or
     * {@code redis://localhost:6379}.
     *
     * @throws IllegalArgumentException if the URI is malformed or no store on the class path has its scheme
     */
    static Holdfast connect(String uri) {
        return builder().store(uri).connect();
    }

    /** Connects to the store in the environment variable {@code HOLDFAST_STORE}, else to the embedded default. */
    static Holdfast connect() {
        return builder().connect();
    }

    static HoldfastBuilder builder() {
        return new HoldfastBuilder();
    }

    /** The name under which this client shows up as a holder. */
    String name();

    /** The store for people, without credentials. */
    String store();

    DistributedLock lock(String name);

    /** @throws UnsupportedLockException if the store cannot keep what the options ask for */
    DistributedLock lock(String name, LockOptions options);

    DistributedReadWriteLock readWriteLock(String name);

    DistributedReadWriteLock readWriteLock(String name, LockOptions options);

    DistributedSemaphore semaphore(String name, int permits);

    DistributedSemaphore semaphore(String name, int permits, LockOptions options);

    /** All of these locks or none. */
    MultiLock lockAll(String... names);

    MultiLock lockAll(List<String> names, LockOptions options);

    Election election(String name);

    Election election(String name, LockOptions options);

    /** The locks the store knows whose names start with {@code prefix}, in order of name. */
    List<LockView> locks(String prefix);

    /**
     * Some of these locks, in the store's order: for a dashboard, which must not ask for ten thousand at once.
     *
     * @param after empty to begin, then what the page before said is {@link LockPage#next}
     * @param limit how many at most
     */
    LockPage locks(String prefix, Optional<String> after, int limit);

    /** What this client has done so far, and is at now. */
    LockStatistics statistics();

    /**
     * Connects if need be and asks the server once, within that time.
     *
     * @throws StoreUnavailableException saying what kept it from answering
     */
    void ping(Duration maxWait);

    LockAdministration administration();

    /**
     * Refuses new requests, fails those that wait, releases what is held, telling leases still in use, and ends this
     * client's threads. Idempotent.
     */
    @Override
    void close();
}
