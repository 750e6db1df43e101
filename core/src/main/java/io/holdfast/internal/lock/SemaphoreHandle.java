package io.holdfast.internal.lock;

import io.holdfast.Acquirable;
import io.holdfast.Demand;
import io.holdfast.DistributedSemaphore;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.LockView;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A semaphore of this client: a lock handle per number of permits. Thread-safe. */
public final class SemaphoreHandle implements DistributedSemaphore {

    private final LockHandle one;
    private final int total;

    /** @param one takes one permit */
    public SemaphoreHandle(LockHandle one, int total) {
        this.one = one;
        this.total = total;
    }

    @Override
    public String name() {
        return one.name();
    }

    @Override
    public LockOptions options() {
        return one.options();
    }

    @Override
    public int total() {
        return total;
    }

    @Override
    public Acquirable<Lease> permits(int count) {
        return one.withDemand(Demand.permits(count, total));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return one.acquire();
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return one.tryAcquire();
    }

    @Override
    public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
        return one.tryAcquire(maxWait);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return one.acquireAsync();
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync() {
        return one.tryAcquireAsync();
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration maxWait) {
        return one.tryAcquireAsync(maxWait);
    }

    @Override
    public LockView inspect() {
        return one.inspect();
    }

    @Override
    public String toString() {
        return "DistributedSemaphore[" + name() + ", " + total + " permits]";
    }
}
