package io.holdfast.internal.acquire;

import io.holdfast.Demand;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/** The gate alone, beside the JDK's locks: one operation is entering and leaving. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class GateBenchmark {

    private final Gate<Object> gate = new Gate<>(TimeSource.system());
    private final ReentrantLock plain = new ReentrantLock();
    private final ReentrantLock fair = new ReentrantLock(true);
    private long counter;

    @Benchmark
    @Threads(1)
    public long gateFree() {
        return throughGate();
    }

    @Benchmark
    @Threads(1)
    public long reentrantLockFree() {
        return through(plain);
    }

    @Benchmark
    @Threads(4)
    public long gateContended() {
        return throughGate();
    }

    @Benchmark
    @Threads(4)
    public long reentrantLockContended() {
        return through(plain);
    }

    @Benchmark
    @Threads(4)
    public long fairReentrantLockContended() {
        return through(fair);
    }

    private long throughGate() {
        Visitor visitor = new Visitor();
        if (!gate.enter(visitor, 0)) {
            while (!gate.proceed(visitor)) {
                LockSupport.park(gate);
            }
        }
        long seen = ++counter;
        gate.leave(visitor);
        return seen;
    }

    private long through(ReentrantLock lock) {
        lock.lock();
        try {
            return ++counter;
        } finally {
            lock.unlock();
        }
    }

    private static final class Visitor extends Gate.Entry<Object> {

        private final Thread thread = Thread.currentThread();

        Visitor() {
            super(Demand.exclusive());
        }

        @Override
        void wake() {
            LockSupport.unpark(thread);
        }

        @Override
        void letGo(Object handedOver) {}

        @Override
        boolean accepts(Object warm) {
            return false;
        }
    }
}
