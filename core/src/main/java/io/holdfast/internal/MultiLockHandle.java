package io.holdfast.internal;

import io.holdfast.DistributedLock;
import io.holdfast.MultiLease;
import io.holdfast.MultiLock;
import io.holdfast.internal.Acquisition.Patience;
import io.holdfast.spi.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Takes its locks one after the other in the given order, all or none. If one of them is lost while others are waited
 * for, it begins anew. Thread-safe.
 */
final class MultiLockHandle implements MultiLock {

    private final Client client;
    private final List<LockHandle> locks;

    /** @param locks in the global order */
    MultiLockHandle(Client client, List<LockHandle> locks) {
        this.client = client;
        this.locks = locks;
    }

    @Override
    public List<String> names() {
        return locks.stream().map(DistributedLock::name).toList();
    }

    @Override
    public MultiLease acquire() throws InterruptedException {
        return take(lock -> lock.take(Patience.ENDLESS, client.never()), () -> true)
                .orElseThrow();
    }

    @Override
    public Optional<MultiLease> tryAcquire() {
        try {
            return take(LockHandle::takeNow, () -> false);
        } catch (InterruptedException e) {
            throw new AssertionError("asking once does not wait", e);
        }
    }

    @Override
    public Optional<MultiLease> tryAcquire(Duration maxWait) throws InterruptedException {
        if (maxWait.isNegative() || maxWait.isZero()) {
            return tryAcquire();
        }
        Deadline deadline = Deadline.after(client.time(), maxWait);
        // The time is for all of them together: none is asked for once it is over.
        return take(
                lock -> deadline.hasPassed() ? Optional.empty() : lock.take(Patience.LIMITED, deadline),
                () -> !deadline.hasPassed());
    }

    @Override
    public CompletableFuture<MultiLease> acquireAsync() {
        return new Chain<>(Patience.ENDLESS, client.never(), Optional::orElseThrow).start();
    }

    @Override
    public CompletableFuture<Optional<MultiLease>> tryAcquireAsync(Duration maxWait) {
        Patience patience = maxWait.isNegative() || maxWait.isZero() ? Patience.ONCE : Patience.LIMITED;
        return new Chain<>(patience, Deadline.after(client.time(), maxWait), Function.identity()).start();
    }

    private interface Way {
        Optional<HeldLease> acquire(LockHandle lock) throws InterruptedException;
    }

    /** Empty if one could not be had, or was lost before the last was and there is no time to begin anew. */
    private Optional<MultiLease> take(Way way, BooleanSupplier mayBeginAnew) throws InterruptedException {
        do {
            Optional<HeldMultiLease> all = takeOnce(way);
            if (all.isEmpty() || all.get().isValid()) {
                return all.map(HeldMultiLease::delivered);
            }
            all.get().discard();
        } while (mayBeginAnew.getAsBoolean());
        return Optional.empty();
    }

    /** All, though some may be lost by now, or empty if one could not be had. */
    private Optional<HeldMultiLease> takeOnce(Way way) throws InterruptedException {
        List<HeldLease> taken = new ArrayList<>();
        try {
            for (LockHandle lock : locks) {
                Optional<HeldLease> lease = way.acquire(lock);
                if (lease.isEmpty()) {
                    return Optional.empty();
                }
                taken.add(lease.get());
            }
            return Optional.of(new HeldMultiLease(taken));
        } finally {
            if (taken.size() < locks.size()) {
                HeldMultiLease.discardAll(taken);
            }
        }
    }

    /** The same with futures: each lock is asked for when the one before it is held. */
    private final class Chain<T> extends CompletableFuture<T> {

        private final Patience patience;
        private final Deadline deadline;
        private final Function<Optional<MultiLease>, T> form;
        private final List<HeldLease> taken = new ArrayList<>(); // by one step after the other
        private volatile @Nullable CompletableFuture<Optional<HeldLease>> current;

        Chain(Patience patience, Deadline deadline, Function<Optional<MultiLease>, T> form) {
            this.patience = patience;
            this.deadline = deadline;
            this.form = form;
        }

        Chain<T> start() {
            whenComplete((outcome, failure) -> endStep());
            next();
            return this;
        }

        /** Whoever completes it, nobody waits any more. */
        private void endStep() {
            CompletableFuture<Optional<HeldLease>> step = current;
            if (step != null) {
                step.cancel(true);
            }
        }

        private void next() {
            if (taken.size() == locks.size()) {
                finish();
                return;
            }
            if (isDone() || (!taken.isEmpty() && deadline.hasPassed())) {
                giveUp();
                return;
            }
            CompletableFuture<Optional<HeldLease>> step =
                    locks.get(taken.size()).takeAsync(patience, deadline);
            current = step;
            step.whenComplete(this::settle);
            if (isDone()) {
                step.cancel(true);
            }
        }

        private void settle(Optional<HeldLease> lease, @Nullable Throwable failure) {
            if (failure != null) {
                discardTaken();
                completeExceptionally(failure);
            } else if (lease.isPresent()) {
                taken.add(lease.get());
                next();
            } else {
                giveUp();
            }
        }

        private void finish() {
            HeldMultiLease together = new HeldMultiLease(taken);
            if (!together.isValid() && !isDone() && patience != Patience.ONCE && !deadline.hasPassed()) {
                discardTaken();
                next();
            } else if (!together.isValid()) {
                giveUp();
            } else if (!complete(form.apply(Optional.of(together.delivered())))) {
                together.discard();
            }
        }

        private void giveUp() {
            discardTaken();
            if (!isDone()) {
                complete(form.apply(Optional.empty()));
            }
        }

        private void discardTaken() {
            HeldMultiLease.discardAll(taken);
            taken.clear();
        }
    }
}
