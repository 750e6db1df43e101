package io.holdfast;

/**
 * One acquisition of a lock, held until released, lost or expired.
 *
 * <p>Thread-safe. A lease can be lost while its holder still runs, so pass {@link #token} to whatever the lock protects
 * and let it refuse a smaller token than it has seen.
 */
public interface Lease extends Hold {

    /** The lock's name. */
    String name();

    /**
     * The fencing token: of two leases of one lock that exclude each other, the later has the larger. Never changes.
     */
    long token();

    /**
     * What the store itself calls the grant: an etcd revision, a ZooKeeper czxid, the number in a database row. Use it when
     * foreign clients check the same fence. Leases handed on inside this client share it, so it is no fence between those:
     * {@link #token} is this times 1,024 plus a local number.
     */
    long storeToken();
}
