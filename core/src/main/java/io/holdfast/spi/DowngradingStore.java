package io.holdfast.spi;

/** A store that can turn an exclusive grant into a shared one in one step. */
public interface DowngradingStore extends LockStore {

    /**
     * The grant goes on as a shared one of the same owner and token, and shared tickets behind it are let in.
     *
     * @throws io.holdfast.LeaseLostException if its owner no longer has it
     */
    Grant downgrade(Grant exclusive, Deadline deadline);
}
