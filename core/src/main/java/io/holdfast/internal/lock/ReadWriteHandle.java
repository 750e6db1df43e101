package io.holdfast.internal.lock;

import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.LockView;
import io.holdfast.ReentrantDistributedLock;
import io.holdfast.UnsupportedLockException;
import io.holdfast.internal.lease.HeldLease;
import io.holdfast.internal.lease.LeaseLife;
import io.holdfast.internal.ticket.StoreRequests;
import io.holdfast.spi.DowngradingStore;
import java.util.concurrent.locks.ReadWriteLock;

/** A read-write lock of this client: two handles on one name. Thread-safe. */
public final class ReadWriteHandle implements DistributedReadWriteLock {

    private final StoreRequests requests;
    private final LockHandle read;
    private final LockHandle write;

    /** @param read the shared side */
    public ReadWriteHandle(StoreRequests requests, LockHandle read) {
        this.requests = requests;
        this.read = read;
        this.write = read.withDemand(Demand.exclusive());
    }

    @Override
    public String name() {
        return read.name();
    }

    @Override
    public LockOptions options() {
        return read.options();
    }

    @Override
    public DistributedLock readLock() {
        return read;
    }

    @Override
    public DistributedLock writeLock() {
        return write;
    }

    @Override
    public ReadWriteLock asReentrantReadWriteLock() {
        ReentrantDistributedLock reentrantRead = read.asReentrantLock();
        ReentrantDistributedLock reentrantWrite = write.asReentrantLock();
        return new ReadWriteLock() {
            @Override
            public ReentrantDistributedLock readLock() {
                return reentrantRead;
            }

            @Override
            public ReentrantDistributedLock writeLock() {
                return reentrantWrite;
            }
        };
    }

    @Override
    public Lease downgrade(Lease writeLease) {
        if (!(writeLease instanceof HeldLease held) || !isWriteLeaseOfThis(held.life())) {
            throw new IllegalArgumentException(
                    writeLease + " is not a write lease of read-write lock '" + name() + "'");
        }
        if (!(requests.store() instanceof DowngradingStore store)) {
            throw new UnsupportedLockException(
                    name(),
                    "the " + requests.traits().store()
                            + " store cannot turn a write lease into a read lease in one step");
        }
        return held.life().downgrade(store);
    }

    @Override
    public LockView inspect() {
        return read.inspect();
    }

    private boolean isWriteLeaseOfThis(LeaseLife life) {
        return life.isOf(requests)
                && life.name().equals(name())
                && life.ticket().demand() instanceof Demand.Exclusive;
    }

    @Override
    public String toString() {
        return "DistributedReadWriteLock[" + name() + "]";
    }
}
