package io.holdfast.spring.call;

import io.holdfast.Hold;
import io.holdfast.LeaseLostException;
import io.holdfast.spring.OnLost;
import io.holdfast.spring.held.Held;
import io.holdfast.spring.held.HeldByThread;
import io.holdfast.spring.transaction.Transactions;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A call of a method that returns a stage: nobody waits for its lock, which is held until that stage has completed. Cancelling what
 * the caller got leaves the queue, or cancels the method's stage. Thread-safe.
 */
final class AsynchronousCall {

    private final LockedCall call;
    private final CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
    /** What is cancelled with the result: the acquisition, then the method's stage. */
    private final AtomicReference<@Nullable CompletableFuture<?>> current = new AtomicReference<>();

    AsynchronousCall(LockedCall call) {
        this.call = call.copy();
    }

    CompletableFuture<@Nullable Object> start() {
        CompletableFuture<? extends Optional<? extends Hold>> acquisition = call.acquireAsync();
        current.set(acquisition);
        result.whenComplete((value, failure) -> cancelCurrent());
        // A lock that was free is there by now, and then this thread would go on: not in its transaction, which ends
        // later.
        if (Transactions.isOpen()) {
            acquisition.whenCompleteAsync(this::acquired);
        } else {
            acquisition.whenComplete(this::acquired);
        }
        return result;
    }

    /** Without an acquisition of its own, inside a method that has the lock; which it keeps if that one ends before. */
    CompletableFuture<@Nullable Object> startUnder(Held outer) {
        result.whenComplete((value, failure) -> cancelCurrent());
        runWith(outer);
        return result;
    }

    private void acquired(@Nullable Optional<? extends Hold> got, @Nullable Throwable failure) {
        if (failure != null) {
            result.completeExceptionally(failure);
        } else if (got == null || got.isEmpty()) {
            follow(call::conflict, Optional.empty());
        } else {
            runWith(call.held(got.get()));
        }
    }

    private void cancelCurrent() {
        CompletableFuture<?> running = current.get();
        if (running != null && result.isDone()) {
            running.cancel(true);
        }
    }

    private void runWith(Held held) {
        if (result.isDone()) {
            held.releaseAsync();
            return;
        }
        LockedInterceptor.fillIn(call.invocation().getArguments(), call.method(), held);
        HeldByThread.enter(held);
        try {
            follow(call.invocation()::proceed, Optional.of(held));
        } finally {
            HeldByThread.leave();
        }
    }

    private interface Start {
        @Nullable
        Object start() throws Throwable;
    }

    private void follow(Start work, Optional<Held> held) {
        CompletionStage<?> stage;
        try {
            Object returned = work.start();
            stage = returned == null ? CompletableFuture.completedFuture(null) : (CompletionStage<?>) returned;
        } catch (Throwable e) {
            finish(held, null, e);
            return;
        }
        stage.whenComplete((value, failure) -> finish(held, value, failure));
        if (stage instanceof CompletableFuture<?> cancellable) {
            current.set(cancellable);
            cancelCurrent();
            if (call.plan().onLost() == OnLost.INTERRUPT) {
                held.ifPresent(it -> it.onLost(loss -> cancellable.cancel(true)));
            }
        }
    }

    /** The work's own failure wins, but not the cancellation that came of the loss. */
    private void finish(Optional<Held> held, @Nullable Object value, @Nullable Throwable failure) {
        Optional<LeaseLostException> lost =
                call.plan().onLost() == OnLost.IGNORE ? Optional.empty() : held.flatMap(it -> lossOf(it));
        held.ifPresentOrElse(
                it -> it.releaseAsync().whenComplete((released, unreleased) -> complete(lost, value, failure)),
                () -> complete(lost, value, failure));
    }

    private void complete(Optional<LeaseLostException> lost, @Nullable Object value, @Nullable Throwable failure) {
        boolean cancelledByLoss = failure instanceof java.util.concurrent.CancellationException && lost.isPresent();
        if (failure != null && !cancelledByLoss) {
            result.completeExceptionally(failure);
        } else if (lost.isPresent()) {
            result.completeExceptionally(lost.get());
        } else {
            result.complete(value);
        }
    }

    private static Optional<LeaseLostException> lossOf(Held held) {
        try {
            held.requireValid();
            return Optional.empty();
        } catch (LeaseLostException e) {
            return Optional.of(e);
        }
    }
}
