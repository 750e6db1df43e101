package io.holdfast.spi;

/** Opens a store for one client. */
@FunctionalInterface
public interface StoreFactory {

    /**
     * Does not fail because a server cannot be reached: that shows when a lock is requested, and may pass.
     */
    LockStore open(StoreContext context);
}
