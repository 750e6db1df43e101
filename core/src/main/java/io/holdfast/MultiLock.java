package io.holdfast;

import java.util.List;

/** Several locks taken together, all or none, in one global order so that two multi-locks never deadlock. Thread-safe. */
public interface MultiLock extends Acquirable<MultiLease> {

    /** The locks in the order they are taken. */
    List<String> names();

    LockOptions options();
}
