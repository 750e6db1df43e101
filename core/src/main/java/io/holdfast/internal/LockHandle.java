package io.holdfast.internal;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.LockView;
import io.holdfast.internal.Acquisition.Patience;
import io.holdfast.spi.Deadline;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/** A lock of this client under given terms. Thread-safe. */
final class LockHandle implements DistributedLock {

    private final Client client;
    private final LockTerms terms;

    LockHandle(Client client, LockTerms terms) {
        this.client = client;
        this.terms = terms;
    }

    LockTerms terms() {
        return terms;
    }

    @Override
    public String name() {
        return terms.name();
    }

    @Override
    public LockOptions options() {
        return terms.options();
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return obtained(SyncDriver.acquire(client, terms, Patience.ENDLESS, client.never()));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return takeNow().map(HeldLease::delivered);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
        return take(patience(maxWait), Deadline.after(client.time(), maxWait)).map(HeldLease::delivered);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return AsyncDriver.acquire(client, terms, Patience.ENDLESS, client.never(), LockHandle::obtained);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration maxWait) {
        return AsyncDriver.acquire(
                client,
                terms,
                patience(maxWait),
                Deadline.after(client.time(), maxWait),
                lease -> Optional.ofNullable(lease).map(HeldLease::delivered));
    }

    /** For those who take several before the user gets any: not delivered yet, as what the next two return. */
    Optional<HeldLease> takeNow() {
        return Optional.ofNullable(
                SyncDriver.acquireUninterruptibly(client, terms, Patience.ONCE, client.requestDeadline()));
    }

    Optional<HeldLease> take(Patience patience, Deadline deadline) throws InterruptedException {
        return Optional.ofNullable(SyncDriver.acquire(client, terms, patience, deadline));
    }

    CompletableFuture<Optional<HeldLease>> takeAsync(Patience patience, Deadline deadline) {
        return AsyncDriver.acquire(client, terms, patience, deadline, Optional::ofNullable);
    }

    @Override
    public LockView inspect() {
        return client.view(terms.name());
    }

    @Override
    public Lock asReentrantLock() {
        return new ReentrantView(client, terms);
    }

    private static Patience patience(Duration maxWait) {
        return maxWait.isNegative() || maxWait.isZero() ? Patience.ONCE : Patience.LIMITED;
    }

    private static Lease obtained(@Nullable HeldLease lease) {
        return Objects.requireNonNull(lease, "an endless wait ends with a lease")
                .delivered();
    }

    @Override
    public String toString() {
        return "DistributedLock[" + name() + ", " + terms.demand() + "]";
    }
}
