package io.holdfast.internal.lock;

import io.holdfast.DistributedLock;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.MultiLock;
import io.holdfast.internal.acquire.Acquisitions;
import io.holdfast.internal.acquire.Patience;
import io.holdfast.internal.lease.HeldLease;
import io.holdfast.spi.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Takes its locks one after the other in the given order, all or none. If one of them is lost while others are waited
 * for, it begins anew. Thread-safe.
 */
public final class MultiLockHandle implements MultiLock {

    private final Acquisitions acquisitions;
    private final List<LockHandle> locks;

    /** @param locks in the global order */
    public MultiLockHandle(Acquisitions acquisitions, List<LockHandle> locks) {
        this.acquisitions = acquisitions;
        this.locks = locks;
    }

    @Override
    public List<String> names() {
        return locks.stream().map(DistributedLock::name).toList();
    }

    @Override
    public LockOptions options() {
        return locks.get(0).options();
    }

    @Override
    public MultiLease acquire() throws InterruptedException {
        return take(
                        (lock, before) -> lock.take(Patience.ENDLESS, acquisitions.never()),
                        () -> true,
                        HeldMultiLease::releaseUndelivered)
                .orElseThrow();
    }

    @Override
    public Optional<MultiLease> tryAcquire() {
        try {
            return take((lock, before) -> lock.takeNow(), () -> false, HeldMultiLease::releaseUndelivered);
        } catch (InterruptedException e) {
            throw new AssertionError("asking once does not wait", e);
        }
    }

    @Override
    public Optional<MultiLease> tryAcquire(Duration maxWait) throws InterruptedException {
        if (maxWait.isNegative() || maxWait.isZero()) {
            return tryAcquire();
        }
        Deadline deadline = acquisitions.after(maxWait);
        // The time is for all of them together: none is asked for once it is over, and giving back takes no more of it.
        return take(
                (lock, before) ->
                        before > 0 && deadline.hasPassed() ? Optional.empty() : lock.take(Patience.LIMITED, deadline),
                () -> !deadline.hasPassed(),
                HeldMultiLease::releaseUndeliveredInBackground);
    }

    @Override
    public CompletableFuture<MultiLease> acquireAsync() {
        return new Chain<>(Patience.ENDLESS, acquisitions.never(), Optional::orElseThrow).start();
    }

    @Override
    public CompletableFuture<Optional<MultiLease>> tryAcquireAsync() {
        return tryAcquireAsync(Duration.ZERO);
    }

    @Override
    public CompletableFuture<Optional<MultiLease>> tryAcquireAsync(Duration maxWait) {
        Patience patience = Patience.of(maxWait);
        return new Chain<>(patience, acquisitions.after(maxWait), Function.identity()).start();
    }

    private interface Way {
        Optional<HeldLease> acquire(LockHandle lock, int locksBefore) throws InterruptedException;
    }

    /** Empty if one could not be had, or was lost before the last was and there is no time to begin anew. */
    private Optional<MultiLease> take(Way way, BooleanSupplier mayBeginAnew, Consumer<List<HeldLease>> giveBack)
            throws InterruptedException {
        Optional<HeldMultiLease> all;
        do {
            all = takeOnce(way, giveBack);
            if (all.isEmpty() || all.get().isValid()) {
                return all.map(HeldMultiLease::delivered);
            }
            giveBack.accept(all.get().heldLeases());
        } while (mayBeginAnew.getAsBoolean());
        return Optional.empty();
    }

    /** All, though some may be lost by now, or empty if one could not be had. */
    private Optional<HeldMultiLease> takeOnce(Way way, Consumer<List<HeldLease>> giveBack) throws InterruptedException {
        List<HeldLease> taken = new ArrayList<>();
        try {
            for (LockHandle lock : locks) {
                Optional<HeldLease> lease = way.acquire(lock, taken.size());
                if (lease.isEmpty()) {
                    return Optional.empty();
                }
                taken.add(lease.get());
            }
            return Optional.of(new HeldMultiLease(taken));
        } finally {
            if (taken.size() < locks.size()) {
                giveBack.accept(taken);
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
            if (isDone() || (patience != Patience.ONCE && !taken.isEmpty() && deadline.hasPassed())) {
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
                releaseTaken();
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
                releaseTaken();
                next();
            } else if (!together.isValid()) {
                giveUp();
            } else if (!complete(form.apply(Optional.of(together.delivered())))) {
                HeldMultiLease.releaseUndeliveredInBackground(taken);
            }
        }

        private void giveUp() {
            releaseTaken();
            if (!isDone()) {
                complete(form.apply(Optional.empty()));
            }
        }

        private void releaseTaken() {
            HeldMultiLease.releaseUndeliveredInBackground(taken);
            taken.clear();
        }
    }
}
