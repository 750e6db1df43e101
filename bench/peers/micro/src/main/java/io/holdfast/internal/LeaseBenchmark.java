package io.holdfast.internal;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;

/** A whole lease on {@code memory:}, alone, contended, and while the keeper keeps many others. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class LeaseBenchmark {

    /** Leases held besides. */
    @Param({"0", "10000"})
    public int held;

    private Holdfast holdfast;
    private DistributedLock lock;
    private Lock reentrant;
    private final List<Lease> others = new ArrayList<>();

    @Setup
    public void connect() throws InterruptedException {
        holdfast = Holdfast.connect("memory:");
        lock = holdfast.lock("bench");
        reentrant = holdfast.lock("reentrant").asReentrantLock();
        for (int i = 0; i < held; i++) {
            others.add(holdfast.lock("held/" + i).acquire());
        }
    }

    @TearDown
    public void close() {
        holdfast.close();
    }

    @Benchmark
    @Threads(1)
    public long leaseFree() throws InterruptedException {
        try (Lease lease = lock.acquire()) {
            return lease.token();
        }
    }

    @Benchmark
    @Threads(1)
    public void reentrantViewFree() {
        reentrant.lock();
        reentrant.unlock();
    }

    @Benchmark
    @Threads(4)
    public long leaseContended() throws InterruptedException {
        try (Lease lease = lock.acquire()) {
            return lease.token();
        }
    }

    @Benchmark
    @Threads(1)
    public boolean isValidAlone() {
        return others.isEmpty() || others.get(0).isValid();
    }

    @Benchmark
    @Threads(1)
    public DistributedLock lookUpAlone() {
        return holdfast.lock("bench");
    }
}
