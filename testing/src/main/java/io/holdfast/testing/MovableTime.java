package io.holdfast.testing;

import io.holdfast.spi.TimeSource;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/**
 * The JVM's clock, which a test may move ahead. It runs by itself too: a test whose only thread waits for a lock would never get
 * to move it. Thread-safe.
 */
final class MovableTime implements TimeSource {

    private final AtomicLong ahead = new AtomicLong();
    /** Until when each thread is parked here. */
    private final Map<Thread, Long> parked = new ConcurrentHashMap<>();

    private final Set<Thread> timers = ConcurrentHashMap.newKeySet();

    @Override
    public long nanoTime() {
        return System.nanoTime() + ahead.get();
    }

    @Override
    public void parkUntil(Object blocker, long untilNanos) {
        Thread thread = Thread.currentThread();
        if (thread.getName().startsWith("holdfast-") && thread.getName().endsWith("-timer")) {
            timers.add(thread);
        }
        // Before the look at the clock: whoever moves it after that look wakes this thread.
        parked.put(thread, untilNanos);
        try {
            long left = untilNanos - nanoTime();
            if (left > 0) {
                LockSupport.parkNanos(blocker, left);
            }
        } finally {
            parked.remove(thread);
        }
    }

    /** Moves to that time, unless it is past already, and wakes those who waited for it. */
    void moveTo(long nanos) {
        long left = nanos - nanoTime();
        if (left > 0) {
            ahead.addAndGet(left);
        }
        parked.keySet().forEach(LockSupport::unpark);
    }

    /** The times at which parked threads wake. */
    LongStream wakeNanos() {
        return parked.values().stream().mapToLong(Long::longValue);
    }

    boolean isParked(Thread thread) {
        return parked.containsKey(thread);
    }

    /** Whether the clients' timers wait for a time to come, and so does everybody else who waits. */
    boolean nobodyIsDue() {
        long now = nanoTime();
        return parked.values().stream().allMatch(until -> until - now > 0)
                && timers.stream().filter(Thread::isAlive).allMatch(parked::containsKey);
    }
}
