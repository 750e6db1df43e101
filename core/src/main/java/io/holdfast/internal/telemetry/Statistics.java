package io.holdfast.internal.telemetry;

import io.holdfast.LockEvent.Outcome;
import io.holdfast.LockStatistics;
import io.holdfast.LockStatistics.StoreOperation;
import io.holdfast.LossReason;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/** The counters of one client. Thread-safe. */
final class Statistics {

    final LongAdder granted = new LongAdder();
    final LongAdder handedOver = new LongAdder();
    final LongAdder released = new LongAdder();
    final LongAdder endedByLoss = new LongAdder();
    final LongAdder renewed = new LongAdder();
    final LongAdder renewalsFailed = new LongAdder();
    final Map<Outcome, LongAdder> unsuccessful = adders(Outcome.class);
    final Map<LossReason, LongAdder> lost = adders(LossReason.class);
    private final RequestCounters[] requests = Stream.of(StoreOperation.values())
            .map(operation -> new RequestCounters())
            .toArray(RequestCounters[]::new);

    /*
     * What is held is a difference: every counter less is one less to touch per acquisition. Ends are read before beginnings, so
     * that the difference is never negative.
     */

    void request(StoreOperation operation, long tookNanos, boolean wasAnswered) {
        RequestCounters counters = requests[operation.ordinal()];
        (wasAnswered ? counters.answered : counters.failed).increment();
        counters.nanos.add(tookNanos);
    }

    LockStatistics snapshot(int waiting, double leastShareLeft) {
        Map<StoreOperation, LockStatistics.Requests> byOperation = new EnumMap<>(StoreOperation.class);
        for (StoreOperation operation : StoreOperation.values()) {
            byOperation.put(operation, requests[operation.ordinal()].snapshot());
        }
        Map<LossReason, Long> losses = sums(lost);
        long releases = released.sum();
        long ended = releases + endedByLoss.sum();
        long grants = granted.sum();
        long handovers = handedOver.sum();
        return new LockStatistics(
                waiting,
                grants + handovers - ended,
                grants,
                handovers,
                sums(unsuccessful),
                releases,
                losses,
                renewed.sum(),
                renewalsFailed.sum(),
                byOperation,
                leastShareLeft);
    }

    private static <E extends Enum<E>> Map<E, LongAdder> adders(Class<E> kind) {
        Map<E, LongAdder> adders = new EnumMap<>(kind);
        for (E each : kind.getEnumConstants()) {
            adders.put(each, new LongAdder());
        }
        return adders;
    }

    private static <E> Map<E, Long> sums(Map<E, LongAdder> adders) {
        Map<E, Long> sums = new HashMap<>();
        adders.forEach((key, adder) -> sums.put(key, adder.sum()));
        return sums;
    }

    /** Of one kind of request. */
    private static final class RequestCounters {

        private final LongAdder answered = new LongAdder();
        private final LongAdder failed = new LongAdder();
        private final LongAdder nanos = new LongAdder();

        LockStatistics.Requests snapshot() {
            return new LockStatistics.Requests(answered.sum(), failed.sum(), Duration.ofNanos(nanos.sum()));
        }
    }
}
