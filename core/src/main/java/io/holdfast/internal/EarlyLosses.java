package io.holdfast.internal;

import io.holdfast.LossReason;
import io.holdfast.spi.OwnerId;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Losses a store reported before the engine had registered the grant. Kept few: those nobody ever asks about, such as
 * losses of leases already released, must not add up. Thread-safe.
 */
final class EarlyLosses {

    private static final int MOST = 1_000;

    private final ConcurrentHashMap<OwnerId, EarlyLoss> losses = new ConcurrentHashMap<>();

    void put(OwnerId owner, EarlyLoss loss) {
        if (losses.size() >= MOST) {
            losses.clear();
        }
        losses.put(owner, loss);
    }

    @Nullable
    EarlyLoss remove(OwnerId owner) {
        return losses.isEmpty() ? null : losses.remove(owner);
    }

    record EarlyLoss(LossReason reason, String detail) {}
}
