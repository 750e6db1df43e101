package io.holdfast.torture.cell;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How late this machine runs its threads, at worst, while the run goes on. Where threads are late by a good part of a ttl,
 * leases are lost and waits are long for no fault of the store. Thread-safe.
 */
final class Lag implements AutoCloseable {

    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final AtomicLong worstNanos = new AtomicLong();
    private final Thread thread = new Thread(this::measure, "holdfast-torture-lag");

    Lag() {
        thread.setDaemon(true);
        thread.start();
    }

    Duration worst() {
        return Duration.ofNanos(worstNanos.get());
    }

    @Override
    public void close() {
        thread.interrupt();
    }

    private void measure() {
        try {
            while (true) {
                long before = System.nanoTime();
                TimeUnit.NANOSECONDS.sleep(PERIOD_NANOS);
                long late = System.nanoTime() - before - PERIOD_NANOS;
                worstNanos.accumulateAndGet(late, Math::max);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
