package io.holdfast.tck;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.tck.tap.StoreTap;
import io.holdfast.tck.tap.StoreTap.Operation;
import java.time.Duration;

/** A store without a network, with the faults of one. */
public final class InProcessFaults implements StoreFactory, Faults {

    private final StoreTap tap;

    public InProcessFaults(StoreFactory real) {
        this.tap = new StoreTap(real);
    }

    @Override
    public LockStore open(StoreContext context) {
        return tap.open(context);
    }

    @Override
    public void delayReplies(Duration delay) {
        for (Operation operation : Operation.values()) {
            tap.on(operation, StoreTap.delayReply(delay));
        }
    }

    @Override
    public void cut() {
        for (Operation operation : Operation.values()) {
            tap.on(operation, StoreTap.LOSE_REQUEST);
        }
    }

    @Override
    public void heal() {
        tap.heal();
    }
}
