package io.holdfast.internal;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.MultiLease;
import io.holdfast.MultiLock;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/** Takes its locks one after the other in the given order, all or none. Thread-safe. */
final class MultiLockHandle implements MultiLock {

    private final TimeSource time;
    private final List<? extends DistributedLock> locks;

    /** @param locks in the global order */
    MultiLockHandle(TimeSource time, List<? extends DistributedLock> locks) {
        this.time = time;
        this.locks = locks;
    }

    @Override
    public List<String> names() {
        return locks.stream().map(DistributedLock::name).toList();
    }

    @Override
    public MultiLease acquire() throws InterruptedException {
        return take(lock -> Optional.of(lock.acquire())).orElseThrow();
    }

    @Override
    public Optional<MultiLease> tryAcquire() {
        try {
            return take(DistributedLock::tryAcquire);
        } catch (InterruptedException e) {
            throw new AssertionError("asking once does not wait", e);
        }
    }

    @Override
    public Optional<MultiLease> tryAcquire(Duration maxWait) throws InterruptedException {
        Deadline deadline = Deadline.after(time, maxWait);
        return take(lock -> lock.tryAcquire(deadline.remaining()));
    }

    @Override
    public CompletableFuture<MultiLease> acquireAsync() {
        return new Chain(Deadline.never(time)).start().thenApplyCancellable(Optional::orElseThrow);
    }

    @Override
    public CompletableFuture<Optional<MultiLease>> tryAcquireAsync(Duration maxWait) {
        return new Chain(Deadline.after(time, maxWait)).start();
    }

    private interface Way {
        Optional<Lease> acquire(DistributedLock lock) throws InterruptedException;
    }

    private Optional<MultiLease> take(Way way) throws InterruptedException {
        List<Lease> taken = new ArrayList<>();
        boolean all = false;
        try {
            for (DistributedLock lock : locks) {
                Optional<Lease> lease = way.acquire(lock);
                if (lease.isEmpty()) {
                    return Optional.empty();
                }
                taken.add(lease.get());
            }
            all = true;
            return Optional.of(new HeldMultiLease(taken));
        } finally {
            if (!all) {
                HeldMultiLease.releaseAll(taken);
            }
        }
    }

    /** The same with futures: each lock is asked for when the one before it is held. */
    private final class Chain extends CompletableFuture<Optional<MultiLease>> {

        private final Deadline deadline;
        private final List<Lease> taken = new ArrayList<>(); // by one step after the other
        private final AtomicReference<CompletableFuture<Optional<Lease>>> current = new AtomicReference<>();

        Chain(Deadline deadline) {
            this.deadline = deadline;
        }

        Chain start() {
            next();
            return this;
        }

        <T> CompletableFuture<T> thenApplyCancellable(Function<Optional<MultiLease>, T> form) {
            Chain chain = this;
            CompletableFuture<T> result = new CompletableFuture<>() {
                @Override
                public boolean cancel(boolean mayInterruptIfRunning) {
                    chain.cancel(mayInterruptIfRunning);
                    return super.cancel(mayInterruptIfRunning);
                }
            };
            whenComplete((lease, failure) -> {
                if (failure != null) {
                    result.completeExceptionally(failure);
                } else if (!result.complete(form.apply(lease))) {
                    lease.ifPresent(MultiLease::release);
                }
            });
            return result;
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            boolean cancelled = super.cancel(mayInterruptIfRunning);
            CompletableFuture<Optional<Lease>> step = current.get();
            if (step != null) {
                step.cancel(mayInterruptIfRunning);
            }
            return cancelled;
        }

        private void next() {
            if (isDone()) {
                HeldMultiLease.releaseAll(taken);
                return;
            }
            if (taken.size() == locks.size()) {
                HeldMultiLease all = new HeldMultiLease(taken);
                if (!complete(Optional.of(all))) {
                    all.release();
                }
                return;
            }
            CompletableFuture<Optional<Lease>> step = locks.get(taken.size()).tryAcquireAsync(deadline.remaining());
            current.set(step);
            step.whenComplete(this::settle);
            if (isCancelled()) {
                step.cancel(true);
            }
        }

        private void settle(Optional<Lease> lease, Throwable failure) {
            if (failure == null && lease.isPresent()) {
                taken.add(lease.get());
                next();
                return;
            }
            HeldMultiLease.releaseAll(taken);
            if (failure != null) {
                completeExceptionally(failure);
            } else {
                complete(Optional.empty());
            }
        }
    }
}
