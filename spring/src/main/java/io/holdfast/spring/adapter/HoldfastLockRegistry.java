package io.holdfast.spring.adapter;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.ReentrantDistributedLock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * Lets Spring Integration keep its locks in a Holdfast store.
 *
 * <p>Locks are renewed by themselves until they are unlocked, so no task scheduler is needed; {@code renewLock} makes a lease valid
 * for at least the time given. There is nothing to expire here: locks that are not held leave nothing behind. Thread-safe.
 */
public final class HoldfastLockRegistry
        implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {

    private final Holdfast holdfast;
    private final String prefix;

    /** Locks are named by their keys. */
    public HoldfastLockRegistry(Holdfast holdfast) {
        this(holdfast, "");
    }

    /** @param prefix what the names of all locks begin with */
    public HoldfastLockRegistry(Holdfast holdfast, String prefix) {
        this.holdfast = holdfast;
        this.prefix = prefix;
    }

    @Override
    public DistributedLock obtain(Object key) {
        return new RegistryLock(name(key));
    }

    @Override
    public void renewLock(Object key) {
        renewLock(key, holdfast.lock(name(key)).options().ttl());
    }

    @Override
    public void renewLock(Object key, Duration atLeast) {
        lease(name(key)).extend(atLeast);
    }

    @Override
    public void expireUnusedOlderThan(long milliseconds) {
        // Nothing is kept of locks that are not held.
    }

    private String name(Object key) {
        return prefix + key;
    }

    private Lease lease(String name) {
        return holdfast.lock(name)
                .asReentrantLock()
                .lease()
                .orElseThrow(() -> new IllegalStateException("Lock '" + name + "' is not held by thread "
                        + Thread.currentThread().getName()));
    }

    /** The re-entrant view of a lock; all of one name share their owners. */
    private final class RegistryLock implements DistributedLock {

        private final String name;
        private final ReentrantDistributedLock lock;

        RegistryLock(String name) {
            this.name = name;
            this.lock = holdfast.lock(name).asReentrantLock();
        }

        @Override
        public void lock(Duration ttl) {
            withTtl(ttl).lock();
        }

        @Override
        public boolean tryLock(Duration maxWait, Duration ttl) throws InterruptedException {
            return withTtl(ttl).tryLock(maxWait.toNanos(), TimeUnit.NANOSECONDS);
        }

        private ReentrantDistributedLock withTtl(Duration ttl) {
            LockOptions options = holdfast.lock(name).options().withTtl(ttl);
            return holdfast.lock(name, options).asReentrantLock();
        }

        @Override
        public void lock() {
            lock.lock();
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            lock.lockInterruptibly();
        }

        @Override
        public boolean tryLock() {
            return lock.tryLock();
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
            return lock.tryLock(time, unit);
        }

        @Override
        public void unlock() {
            lock.unlock();
        }

        @Override
        public Condition newCondition() {
            return lock.newCondition();
        }
    }
}
