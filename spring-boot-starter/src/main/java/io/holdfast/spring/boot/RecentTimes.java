package io.holdfast.spring.boot;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;

/** How long something took the last thousand times. Thread-safe. */
final class RecentTimes {

    private static final int KEPT = 1_000;

    private final AtomicLongArray nanos = new AtomicLongArray(KEPT);
    private final AtomicLong recorded = new AtomicLong();

    void record(Duration time) {
        nanos.set((int) (recorded.getAndIncrement() % KEPT), time.toNanos());
    }

    /** What 99 of 100 were not longer than, in milliseconds; empty if there was none. */
    Optional<Double> p99Millis() {
        int kept = (int) Math.min(recorded.get(), KEPT);
        if (kept == 0) {
            return Optional.empty();
        }
        long[] sorted = IntStream.range(0, kept).mapToLong(nanos::get).sorted().toArray();
        return Optional.of(sorted[(int) Math.ceil(kept * 0.99) - 1] / 1e6);
    }
}
