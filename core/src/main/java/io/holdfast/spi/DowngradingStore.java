package io.holdfast.spi;

/** A store that can turn an exclusive grant into a shared one in one step. */
public interface DowngradingStore extends LockStore {

    /**
     * The grant goes on as a shared one of the same owner and token, and shared tickets behind it are let in. Tells the ticket
     * {@link Ticket#downgraded}, or {@link Ticket#gone} if its owner no longer has it.
     */
    void downgrade(Ticket exclusive, Deadline deadline);
}
