package io.holdfast.spring;

import io.holdfast.Hold;
import io.holdfast.LeaseLostException;
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

    private final LockedInterceptor.Call call;
    private final CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
    /** What is cancelled with the result: the acquisition, then the method's stage. */
    private final AtomicReference<@Nullable CompletableFuture<?>> current = new AtomicReference<>();

    AsynchronousCall(LockedInterceptor.Call call) {
        this.call = call.copy();
    }

    CompletableFuture<@Nullable Object> start() {
        CompletableFuture<? extends Optional<? extends Hold>> acquisition = call.acquireAsync();
        current.set(acquisition);
        result.whenComplete((value, failure) -> cancelCurrent());
        acquisition.whenComplete((got, failure) -> {
            if (failure != null) {
                result.completeExceptionally(failure);
            } else if (got.isEmpty()) {
                follow(call::conflict, Optional.empty());
            } else {
                runWith(got.get());
            }
        });
        return result;
    }

    private void cancelCurrent() {
        CompletableFuture<?> running = current.get();
        if (running != null && result.isDone()) {
            running.cancel(true);
        }
    }

    private void runWith(Hold hold) {
        if (result.isDone()) {
            hold.releaseAsync();
            return;
        }
        LockedInterceptor.fillIn(call.invocation().getArguments(), call.method(), hold);
        CurrentLease.enter(
                new CurrentLease.Held(call.client(), hold, call.plan().mode()));
        try {
            follow(call.invocation()::proceed, Optional.of(hold));
        } finally {
            CurrentLease.leave();
        }
    }

    private interface Start {
        @Nullable
        Object start() throws Throwable;
    }

    private void follow(Start work, Optional<Hold> hold) {
        CompletionStage<?> stage;
        try {
            Object returned = work.start();
            stage = returned == null ? CompletableFuture.completedFuture(null) : (CompletionStage<?>) returned;
        } catch (Throwable e) {
            finish(hold, null, e);
            return;
        }
        stage.whenComplete((value, failure) -> finish(hold, value, failure));
        if (stage instanceof CompletableFuture<?> cancellable) {
            current.set(cancellable);
            cancelCurrent();
            if (call.plan().onLost() == OnLost.INTERRUPT) {
                hold.ifPresent(held -> held.onLost(loss -> cancellable.cancel(true)));
            }
        }
    }

    /** The work's own failure wins, but not the cancellation that came of the loss. */
    private void finish(Optional<Hold> hold, @Nullable Object value, @Nullable Throwable failure) {
        Optional<LeaseLostException> lost =
                call.plan().onLost() == OnLost.IGNORE ? Optional.empty() : hold.flatMap(AsynchronousCall::lossOf);
        hold.ifPresentOrElse(
                held -> held.releaseAsync().whenComplete((released, unreleased) -> complete(lost, value, failure)),
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

    private static Optional<LeaseLostException> lossOf(Hold hold) {
        try {
            hold.requireValid();
            return Optional.empty();
        } catch (LeaseLostException e) {
            return Optional.of(e);
        }
    }
}
