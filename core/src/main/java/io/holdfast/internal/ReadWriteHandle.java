package io.holdfast.internal;

import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Lease;
import io.holdfast.LockView;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.DowngradingStore;

/** A read-write lock of this client: two handles on one name. Thread-safe. */
final class ReadWriteHandle implements DistributedReadWriteLock {

    private final Client client;
    private final LockTerms sharedTerms;
    private final LockHandle read;
    private final LockHandle write;

    ReadWriteHandle(Client client, LockTerms sharedTerms) {
        this.client = client;
        this.sharedTerms = sharedTerms;
        this.read = new LockHandle(client, sharedTerms);
        this.write = new LockHandle(client, sharedTerms.withDemand(Demand.exclusive()));
    }

    @Override
    public String name() {
        return read.name();
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
    public Lease downgrade(Lease writeLease) {
        if (!(writeLease instanceof HeldLease held) || !isWriteLeaseOfThis(held.life())) {
            throw new IllegalArgumentException(
                    writeLease + " is not a write lease of read-write lock '" + name() + "'");
        }
        if (!(client.store() instanceof DowngradingStore store)) {
            throw new UnsupportedLockException(
                    name(),
                    "the " + client.store().traits().store()
                            + " store cannot turn a write lease into a read lease in one step");
        }
        LeaseLife life = held.life();
        life.requireValid();
        return life.succeedBy(() -> goOnShared(life, store));
    }

    @Override
    public LockView inspect() {
        return read.inspect();
    }

    private HeldLease goOnShared(LeaseLife life, DowngradingStore store) {
        Holding shared = life.holding().downgrade(store);
        Acquisition inside = life.acquisition().downgraded(sharedTerms);
        LeaseLife next = new LeaseLife(client, shared, inside, client.time().nanoTime());
        client.keeper().keep(shared);
        HeldLease lease = next.newHandle().delivered();
        client.loseIfReportedBefore(shared);
        return lease;
    }

    private boolean isWriteLeaseOfThis(LeaseLife life) {
        return life.belongsTo(client)
                && life.name().equals(name())
                && life.holding().grant().request().demand() instanceof Demand.Exclusive;
    }

    @Override
    public String toString() {
        return "DistributedReadWriteLock[" + name() + "]";
    }
}
