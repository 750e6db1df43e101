package io.holdfast.spi.support;

import io.holdfast.spi.StoreContext.Alarm;
import io.holdfast.spi.StoreContext.Timer;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Runs one task at the earliest of the times asked for, however many ask. Thread-safe.
 *
 * <p>Asking for a later time than the next planned one does nothing: the task itself asks again for what is still to come. An
 * earlier time replaces a later plan, whose alarm is cancelled. The plan is forgotten before the task runs: what is added before the task looks is seen by it, what is added after
 * finds no plan and makes one.
 */
public final class EarliestAlarm {

    private final Timer timer;
    private final Runnable task;
    private final AtomicReference<@Nullable Plan> planned = new AtomicReference<>();

    public EarliestAlarm(Timer timer, Runnable task) {
        this.timer = timer;
        this.task = task;
    }

    /** The task runs then, or before. */
    public void at(long nanos) {
        Plan known = planned.get();
        while (known == null || nanos - known.atNanos < 0) {
            Plan earlier = new Plan(nanos);
            if (planned.compareAndSet(known, earlier)) {
                try {
                    earlier.alarm = timer.at(nanos, () -> goOff(earlier));
                } catch (RuntimeException | Error noMemory) {
                    // Nobody may rely on an alarm that is not set; the one it was to replace still goes off.
                    planned.compareAndSet(earlier, null);
                    throw noMemory;
                }
                if (known != null) {
                    known.cancel();
                }
                if (planned.get() != earlier) {
                    // Replaced before its alarm was known.
                    earlier.cancel();
                }
                return;
            }
            known = planned.get();
        }
    }

    private void goOff(Plan plan) {
        if (planned.compareAndSet(plan, null) || planned.get() == null) {
            task.run();
        }
    }

    /** A class, not a number, since plans are told apart by identity. */
    private static final class Plan {

        private final long atNanos;
        private volatile @Nullable Alarm alarm;

        Plan(long atNanos) {
            this.atNanos = atNanos;
        }

        void cancel() {
            Alarm set = alarm;
            if (set != null) {
                set.cancel();
            }
        }
    }
}
