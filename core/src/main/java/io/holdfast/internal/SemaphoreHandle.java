package io.holdfast.internal;

import io.holdfast.Acquirable;
import io.holdfast.Demand;
import io.holdfast.DistributedSemaphore;
import io.holdfast.Lease;
import io.holdfast.LockView;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A semaphore of this client: a lock handle per number of permits. Thread-safe. */
final class SemaphoreHandle implements DistributedSemaphore {

    private final Client client;
    private final LockHandle one;
    private final int total;

    SemaphoreHandle(Client client, LockTerms terms, int total) {
        this.client = client;
        this.one = new LockHandle(client, terms);
        this.total = total;
    }

    @Override
    public String name() {
        return one.name();
    }

    @Override
    public int total() {
        return total;
    }

    @Override
    public Acquirable<Lease> permits(int count) {
        return new LockHandle(client, one.terms().withDemand(Demand.permits(count, total)));
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
