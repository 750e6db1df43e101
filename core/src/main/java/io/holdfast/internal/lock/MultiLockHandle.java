package io.holdfast.internal.lock;

import io.holdfast.DistributedLock;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.MultiLock;
import io.holdfast.internal.acquire.Acquisitions;
import io.holdfast.internal.acquire.Patience;
import io.holdfast.internal.lease.HeldLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
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
        return take(acquisitions.endless()).orElseThrow();
    }

    @Override
    public Optional<MultiLease> tryAcquire() {
        try {
            return take(acquisitions.oneTry());
        } catch (InterruptedException e) {
            throw new AssertionError("asking once does not wait", e);
        }
    }

    @Override
    public Optional<MultiLease> tryAcquire(Duration maxWait) throws InterruptedException {
        return take(acquisitions.upTo(maxWait));
    }

    @Override
    public CompletableFuture<MultiLease> acquireAsync() {
        return new Chain<>(acquisitions.endless(), Optional::orElseThrow).start();
    }

    @Override
    public CompletableFuture<Optional<MultiLease>> tryAcquireAsync() {
        return tryAcquireAsync(Duration.ZERO);
    }

    @Override
    public CompletableFuture<Optional<MultiLease>> tryAcquireAsync(Duration maxWait) {
        return new Chain<>(acquisitions.upTo(maxWait), Function.identity()).start();
    }

    /** Empty if one could not be had, or was lost before the last was and there is no time to begin anew. */
    private Optional<MultiLease> take(Patience patience) throws InterruptedException {
        do {
            try (Undelivered taken = new Undelivered(patience)) {
                if (!takeEach(patience, taken.leases)) {
                    return Optional.empty();
                }
                HeldMultiLease all = new HeldMultiLease(taken.leases);
                if (all.isValid()) {
                    taken.leases.clear();
                    return Optional.of(all.delivered());
                }
            }
        } while (mayBeginAnew(patience));
        return Optional.empty();
    }

    /** False if one could not be had. The time is for all together: none but the first is asked for once it is over. */
    private boolean takeEach(Patience patience, List<HeldLease> taken) throws InterruptedException {
        for (LockHandle lock : locks) {
            if (!taken.isEmpty() && patience.isOver()) {
                return false;
            }
            Optional<HeldLease> lease = lock.take(patience);
            if (lease.isEmpty()) {
                return false;
            }
            taken.add(lease.get());
        }
        return true;
    }

    private static boolean mayBeginAnew(Patience patience) {
        return !patience.isForOneTry() && !patience.isOver();
    }

    /** What was taken and is given back at the end. As a resource, so that this hides no failure to take the others. */
    private static final class Undelivered implements AutoCloseable {

        private final List<HeldLease> leases = new ArrayList<>();
        private final Patience patience;

        Undelivered(Patience patience) {
            this.patience = patience;
        }

        /** Takes nothing of a limited time. */
        @Override
        public void close() {
            if (patience.isLimited()) {
                HeldMultiLease.releaseUndeliveredInBackground(leases);
            } else {
                HeldMultiLease.releaseUndelivered(leases);
            }
        }
    }

    /** The same with futures: each lock is asked for when the one before it is held. */
    private final class Chain<T> extends CompletableFuture<T> {

        private final Patience patience;
        private final Function<Optional<MultiLease>, T> form;
        private final List<HeldLease> taken = new ArrayList<>(); // by one step after the other
        private volatile @Nullable CompletableFuture<Optional<HeldLease>> current;

        Chain(Patience patience, Function<Optional<MultiLease>, T> form) {
            this.patience = patience;
            this.form = form;
        }

        Chain<T> start() {
            whenComplete((outcome, failure) -> endStep());
            next();
            return this;
        }

        /** However it was completed, the lock asked for now is not wanted any more. */
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
            if (isDone() || (!taken.isEmpty() && patience.isOver())) {
                giveUp();
                return;
            }
            CompletableFuture<Optional<HeldLease>> step =
                    locks.get(taken.size()).takeAsync(patience);
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
            if (!together.isValid() && !isDone() && mayBeginAnew(patience)) {
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
