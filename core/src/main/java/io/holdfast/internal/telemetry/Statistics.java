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

/** The counters of one client. Thread-safe. */
final class Statistics {

    final LongAdder waiting = new LongAdder();
    final LongAdder held = new LongAdder();
    final LongAdder granted = new LongAdder();
    final LongAdder handedOver = new LongAdder();
    final LongAdder released = new LongAdder();
    final LongAdder renewed = new LongAdder();
    final LongAdder renewalsFailed = new LongAdder();
    final Map<Outcome, LongAdder> unsuccessful = adders(Outcome.class);
    final Map<LossReason, LongAdder> lost = adders(LossReason.class);
    private final Map<StoreOperation, LongAdder> answered = adders(StoreOperation.class);
    private final Map<StoreOperation, LongAdder> failed = adders(StoreOperation.class);
    private final Map<StoreOperation, LongAdder> nanos = adders(StoreOperation.class);

    void request(StoreOperation operation, long tookNanos, boolean wasAnswered) {
        (wasAnswered ? answered : failed).get(operation).increment();
        nanos.get(operation).add(tookNanos);
    }

    LockStatistics snapshot() {
        Map<StoreOperation, LockStatistics.Requests> requests = new EnumMap<>(StoreOperation.class);
        for (StoreOperation operation : StoreOperation.values()) {
            requests.put(
                    operation,
                    new LockStatistics.Requests(
                            answered.get(operation).sum(),
                            failed.get(operation).sum(),
                            Duration.ofNanos(nanos.get(operation).sum())));
        }
        return new LockStatistics(
                waiting.sum(),
                held.sum(),
                granted.sum(),
                handedOver.sum(),
                sums(unsuccessful),
                released.sum(),
                sums(lost),
                renewed.sum(),
                renewalsFailed.sum(),
                requests);
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
}
