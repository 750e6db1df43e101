package io.holdfast;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** A clock that moves only by hand. Parked threads wake when it reaches their time, or when they are unparked. */
public final class ManualTime implements TimeSource {

    private final AtomicLong now = new AtomicLong(1_000_000_000L);
    private final Set<Thread> parked = ConcurrentHashMap.newKeySet();

    /** Called on every thread that was parked, before it goes on. */
    public volatile Consumer<Thread> beforeWaking = thread -> {};

    @Override
    public long nanoTime() {
        return now.get();
    }

    @Override
    public void parkUntil(Object blocker, long untilNanos) {
        Thread thread = Thread.currentThread();
        parked.add(thread);
        if (untilNanos - now.get() > 0) {
            LockSupport.park(blocker);
        }
        parked.remove(thread);
        beforeWaking.accept(thread);
    }

    public void advance(Duration by) {
        now.addAndGet(by.toNanos());
        parked.forEach(LockSupport::unpark);
    }
}
