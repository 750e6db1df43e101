package io.holdfast;

import java.util.List;

/** Several locks held together; valid only while every one of them is. Thread-safe. */
public interface MultiLease extends Hold {

    /** The leases in the order they were taken. */
    List<Lease> leases();

    /**
     * The fencing token of one of the locks.
     *
     * @throws IllegalArgumentException if that lock is not among them
     */
    long token(String name);
}
