package io.holdfast;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * Many readers or one writer, in order of arrival: a waiting writer is not overtaken by later readers.
 *
 * <p>Thread-safe; neither side is re-entrant. A reader cannot become a writer (two of them would wait for each other):
 * release, then acquire to write, and look again.
 */
public interface DistributedReadWriteLock {

    String name();

    LockOptions options();

    DistributedLock readLock();

    DistributedLock writeLock();

    /**
     * The same lock as a {@link ReadWriteLock}: re-entrant, owned by threads. Read inside write counts as locking again; write
     * inside read throws {@link IllegalStateException}.
     */
    ReadWriteLock asReentrantReadWriteLock();

    /**
     * Turns a write lease into a read lease with no moment in between at which another writer could get in. The write
     * lease is then released; the read lease keeps its token and lets waiting readers in beside it.
     *
     * @throws IllegalArgumentException if {@code write} is not a write lease of this lock
     * @throws LeaseLostException if it is lost
     * @throws UnsupportedLockException if the store cannot do it in one step
     */
    Lease downgrade(Lease write);

    LockView inspect();
}
