package io.holdfast.torture.check;

import io.holdfast.Demand;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The latest moment per demand, and which lease set it. There are few different demands on a lock, so looking through them
 * costs next to nothing.
 */
final class Frontier {

    /** A moment and the lease that accounts for it. */
    record Mark(long nanos, Tenure cause) {}

    private final Map<Demand, Mark> latest = new HashMap<>();

    /** The latest mark of a demand that excludes this one. */
    @Nullable
    Mark latestExcluding(Demand demand) {
        Mark found = null;
        for (Map.Entry<Demand, Mark> entry : latest.entrySet()) {
            if ((found == null || entry.getValue().nanos > found.nanos) && Exclusion.between(demand, entry.getKey())) {
                found = entry.getValue();
            }
        }
        return found;
    }

    void advance(Demand demand, Mark mark) {
        Mark before = latest.get(demand);
        if (before == null || mark.nanos > before.nanos) {
            latest.put(demand, mark);
        }
    }

    void clear() {
        latest.clear();
    }
}
