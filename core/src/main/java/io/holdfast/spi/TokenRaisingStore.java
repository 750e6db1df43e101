package io.holdfast.spi;

/** A store whose next token can be pushed up, so that several stores can agree on one sequence. */
public interface TokenRaisingStore extends LockStore {

    /** From now on every token of the lock is larger than {@code floor}. */
    void raise(String name, long floor, Deadline deadline);
}
