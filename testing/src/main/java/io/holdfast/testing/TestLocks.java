package io.holdfast.testing;

import io.holdfast.Holdfast;
import io.holdfast.HoldfastBuilder;
import io.holdfast.Lease;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;

/**
 * Locks for a test of an application: in memory, with a clock that can be moved ahead, other holders, losses and outages.
 *
 * <pre>{@code
 * try (TestLocks locks = TestLocks.create()) {
 *     Shop shop = new Shop(locks.holdfast());
 *     locks.takenByOther("stock/sku-42");
 *     assertThat(shop.buy("sku-42")).isEqualTo(BUSY);
 * }
 * }</pre>
 *
 * <p>Each has a store of its own, so tests that run at the same time do not meet. With JUnit, {@link HoldfastExtension} makes and
 * closes it. Thread-safe.
 */
public final class TestLocks implements AutoCloseable {

    /** How long the threads of a client may take, in real time, to do what is due. */
    private static final Duration LONGEST_SETTLING = Duration.ofSeconds(10);

    /** How long, in real time, what goes on beside a test may take to release its locks after it. */
    private static final Duration LONGEST_END = Duration.ofSeconds(1);

    /** How long, in real time, a renewal that is due may take; after that the lease is taken for one that is not renewed. */
    private static final Duration LONGEST_RENEWAL = Duration.ofSeconds(1);

    private static final Duration LOOK_AGAIN = Duration.ofMillis(1);

    private final String space = "test-" + UUID.randomUUID();
    private final MovableTime time = new MovableTime();
    private final List<TestStore> stores = new ArrayList<>(); // guarded by itself
    private final Set<Ticket> notRenewed = ConcurrentHashMap.newKeySet();
    private final OpenLeases openLeases = new OpenLeases();
    private final TestStore ownStore;
    private final Holdfast holdfast;
    private final Holdfast other;
    private final List<Lease> leasesOfOther = new CopyOnWriteArrayList<>();

    private TestLocks(UnaryOperator<HoldfastBuilder> settings) {
        this.holdfast = settings.apply(builder("tested").observer(openLeases)).connect();
        this.ownStore = stores.get(0);
        this.other = builder("other").connect();
    }

    public static TestLocks create() {
        return create(UnaryOperator.identity());
    }

    /** With further settings of the client that is tested; its store and its clock are given. */
    public static TestLocks create(UnaryOperator<HoldfastBuilder> settings) {
        return new TestLocks(settings);
    }

    private HoldfastBuilder builder(String name) {
        return Holdfast.builder()
                .name(name + "-" + space.substring(5, 13))
                .time(time)
                .store(context -> {
                    TestStore store = new TestStore(space, context);
                    synchronized (stores) {
                        stores.add(store);
                    }
                    return store;
                });
    }

    /** The client to hand to what is tested. */
    public Holdfast holdfast() {
        return holdfast;
    }

    /**
     * Lets another client hold the lock, until it is released through what this returns.
     *
     * @throws IllegalStateException if it is held already
     */
    public OtherHolder takenByOther(String name) {
        Lease lease = other.lock(name)
                .tryAcquire()
                .orElseThrow(() -> new IllegalStateException(
                        "Lock '" + name + "' cannot be taken by another client now: it is held or waited for already. "
                                + other.lock(name).inspect()));
        leasesOfOther.add(lease);
        return new OtherHolder(lease);
    }

    /**
     * Takes a lease away from its holder, as a store does that forgot it. It is invalid when this returns; its callbacks run soon
     * after.
     *
     * @throws IllegalStateException if it is not held
     */
    public void lose(Lease lease) {
        if (ownStore.lose(lease.name(), TestStore.grantOf(lease.token()), soon()) == 0) {
            throw new IllegalStateException("The lease on lock '" + lease.name() + "' with token " + lease.token()
                    + " cannot be lost: it is not held by the client of this test any more.");
        }
    }

    /** As {@link #lose(Lease)} for whatever the tested client holds of that lock. */
    public void lose(String name) {
        if (ownStore.lose(name, ticket -> true, soon()) == 0) {
            throw new IllegalStateException(
                    "Lock '" + name + "' cannot be lost: the client of this test does not hold it.");
        }
    }

    /** From now on the tested client cannot reach its store: it renews nothing, and its leases end with their ttl. */
    public void storeDown() {
        ownStore.setDown(true);
    }

    public void storeUp() {
        ownStore.setDown(false);
    }

    /**
     * Moves the clock ahead. First waits until those who wait for locks are parked; then goes from one time at which something is
     * due to the next, and each time until it has been done: leases are renewed on the way, and expire if the store is down.
     */
    public void advance(Duration by) {
        settle();
        long target = time.nanoTime() + by.toNanos();
        while (target - time.nanoTime() > 0) {
            long now = time.nanoTime();
            time.moveTo(now + Math.min(target - now, nanosToNextStop(now)));
            settle();
        }
    }

    /**
     * A renewal that is due is handed to another thread, and until that is done the client's timer next wakes at the end of the
     * lease: so the clock also stops where a lease is overdue.
     */
    private long nanosToNextStop(long now) {
        LongStream overdue = allStores().stream().flatMapToLong(store -> store.overdueNanos(notRenewed));
        return LongStream.concat(time.wakeNanos(), overdue)
                .map(stop -> stop - now)
                .filter(left -> left > 0)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /**
     * Waits until that many acquisitions of the tested client wait for locks.
     *
     * @throws IllegalStateException if it does not come to that within ten seconds of real time
     */
    public void awaitWaiting(int count) {
        if (!within(LONGEST_SETTLING, () -> openLeases.waiting().size() == count && waitersAreParked())) {
            throw new IllegalStateException("Expected " + count + " acquisitions to wait for locks, but "
                    + openLeases.waiting().size() + " do");
        }
    }

    /** What the tested client has not released, a sentence on each. */
    public List<String> openLeases() {
        return openLeases.open().stream()
                .filter(lease -> ownStore.isHeld(lease.lock(), lease.token()))
                .map(OpenLeases.Open::sentence)
                .sorted()
                .toList();
    }

    /**
     * To be called when a test has ended.
     *
     * @throws AssertionError if the tested client holds a lock, and still does after a second
     */
    public void requireAllReleased() {
        if (!within(LONGEST_END, () -> openLeases().isEmpty())) {
            throw new AssertionError(String.join("\n", openLeases())
                    + "\nClose every lease, best by try (Lease lease = lock.acquire()) or by lock.run(…).");
        }
    }

    /**
     * Ends both clients.
     *
     * @throws AssertionError if the tested client still holds a lock
     */
    @Override
    public void close() {
        try {
            requireAllReleased();
        } finally {
            closeUnchecked();
        }
    }

    /** {@link #close()} of a test that has failed already. */
    void closeUnchecked() {
        storeUp();
        holdfast.close();
        leasesOfOther.forEach(Lease::release);
        other.close();
    }

    private void settle() {
        within(
                LONGEST_SETTLING,
                () -> time.nobodyIsDue() && allStores().stream().noneMatch(TestStore::isAsked) && waitersAreParked());
        boolean renewed = within(
                LONGEST_RENEWAL, () -> allStores().stream().noneMatch(store -> store.hasOverdueTicket(notRenewed)));
        if (!renewed) {
            allStores().forEach(store -> store.addOverdueTo(notRenewed));
        }
    }

    /** Also those elsewhere count that wait for something: an asynchronous acquisition leaves its thread to other work. */
    private boolean waitersAreParked() {
        return openLeases.waiting().stream()
                .allMatch(thread -> thread == Thread.currentThread()
                        || time.isParked(thread)
                        || thread.getState() == Thread.State.WAITING
                        || thread.getState() == Thread.State.TIMED_WAITING
                        || !thread.isAlive());
    }

    private List<TestStore> allStores() {
        synchronized (stores) {
            return List.copyOf(stores);
        }
    }

    /** In real time: whether it came to be so. */
    private static boolean within(Duration limit, BooleanSupplier condition) {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            LockSupport.parkNanos(LOOK_AGAIN.toNanos());
        }
        return true;
    }

    private Deadline soon() {
        return Deadline.after(time, LONGEST_SETTLING);
    }

    /** A lock held by another client. Thread-safe. */
    public static final class OtherHolder implements AutoCloseable {

        private final Lease lease;

        private OtherHolder(Lease lease) {
            this.lease = lease;
        }

        public long token() {
            return lease.token();
        }

        public boolean isHeld() {
            return lease.isValid();
        }

        public void release() {
            lease.release();
        }

        @Override
        public void close() {
            release();
        }
    }
}
