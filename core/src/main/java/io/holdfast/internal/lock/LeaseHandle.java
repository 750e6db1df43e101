package io.holdfast.internal.lock;

import io.holdfast.Acquirable;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.LockView;
import io.holdfast.internal.acquire.Acquisitions;
import io.holdfast.internal.acquire.AsyncDriver;
import io.holdfast.internal.acquire.LockTerms;
import io.holdfast.internal.acquire.Patience;
import io.holdfast.internal.acquire.SyncDriver;
import io.holdfast.internal.lease.HeldLease;
import io.holdfast.internal.ticket.Views;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Acquires leases of one lock under given terms. Thread-safe. Public, else each call passes one more method of javac. */
public class LeaseHandle implements Acquirable<Lease> {

    final Acquisitions acquisitions;
    final Views views;
    final LockTerms terms;

    LeaseHandle(Acquisitions acquisitions, Views views, LockTerms terms) {
        this.acquisitions = acquisitions;
        this.views = views;
        this.terms = terms;
    }

    public String name() {
        return terms.name();
    }

    public LockOptions options() {
        return terms.options();
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return obtained(SyncDriver.acquire(acquisitions, terms, acquisitions.endless()));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return Optional.ofNullable(SyncDriver.acquireUninterruptibly(acquisitions, terms, acquisitions.oneTry()))
                .map(HeldLease::delivered);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
        return Optional.ofNullable(SyncDriver.acquire(acquisitions, terms, acquisitions.upTo(maxWait)))
                .map(HeldLease::delivered);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return AsyncDriver.acquire(acquisitions, terms, acquisitions.endless(), LeaseHandle::obtained);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync() {
        return tryAcquireAsync(Duration.ZERO);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration maxWait) {
        return AsyncDriver.acquire(
                acquisitions,
                terms,
                acquisitions.upTo(maxWait),
                lease -> Optional.ofNullable(lease).map(HeldLease::delivered));
    }

    /** For one who takes several before the user gets any: not delivered yet. Asking once is not interrupted. */
    Optional<HeldLease> take(Patience patience) throws InterruptedException {
        return Optional.ofNullable(
                patience.isForOneTry()
                        ? SyncDriver.acquireUninterruptibly(acquisitions, terms, patience)
                        : SyncDriver.acquire(acquisitions, terms, patience));
    }

    /** As {@link #take}, without a waiting thread. */
    CompletableFuture<Optional<HeldLease>> takeAsync(Patience patience) {
        return AsyncDriver.acquire(acquisitions, terms, patience, Optional::ofNullable);
    }

    public LockView inspect() {
        return views.view(terms.name());
    }

    private static Lease obtained(@Nullable HeldLease lease) {
        return Objects.requireNonNull(lease, "an endless wait ends with a lease")
                .delivered();
    }
}
