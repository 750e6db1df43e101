package io.holdfast;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Asynchronous work with a lease: acquires, starts the work, releases when the work's stage has completed. Whoever completes
 * this in another way, by cancelling it or by a timeout, leaves the queue or cancels the work's stage; the lease is released
 * when that stage has completed, since the work goes on until then.
 */
final class AsyncWork<H extends Hold, T> extends CompletableFuture<T> {

    private final Function<? super H, ? extends CompletionStage<T>> work;
    /** What is to be cancelled with this: first the acquisition, then the work. */
    private final AtomicReference<@Nullable CompletableFuture<?>> current = new AtomicReference<>();

    private AsyncWork(Function<? super H, ? extends CompletionStage<T>> work) {
        this.work = work;
    }

    static <H extends Hold, T> CompletableFuture<T> start(
            CompletableFuture<H> acquisition, Function<? super H, ? extends CompletionStage<T>> work) {
        AsyncWork<H, T> whole = new AsyncWork<>(work);
        whole.current.set(acquisition);
        whole.whenComplete((result, failure) -> whole.cancelCurrent());
        acquisition.whenComplete((hold, failure) -> {
            if (failure != null) {
                whole.completeExceptionally(failure);
            } else {
                whole.begin(hold);
            }
        });
        return whole;
    }

    private void cancelCurrent() {
        CompletableFuture<?> running = current.get();
        if (running != null && isDone()) {
            running.cancel(true);
        }
    }

    private void begin(H hold) {
        if (isDone()) {
            hold.releaseAsync();
            return;
        }
        CompletionStage<T> stage;
        try {
            stage = Objects.requireNonNull(work.apply(hold), "the work of callAsync returned no stage");
        } catch (Throwable e) { // also a checked one: Kotlin and Lombok throw them undeclared
            finish(hold, null, e);
            return;
        }
        stage.whenComplete((result, failure) -> finish(hold, result, failure));
        if (stage instanceof CompletableFuture<T> cancellable) {
            current.set(cancellable);
            cancelCurrent();
        }
    }

    /** The work's own failure wins; else the loss of the lease, if it was lost meanwhile. */
    private void finish(H hold, @Nullable T result, @Nullable Throwable failure) {
        hold.releaseAsync().whenComplete((released, unreleased) -> {
            if (failure != null) {
                completeExceptionally(failure);
            } else if (released == ReleaseResult.ALREADY_LOST) {
                completeExceptionally(lossOf(hold));
            } else {
                complete(result);
            }
        });
    }

    private static Exception lossOf(Hold hold) {
        try {
            hold.requireValid();
            return new IllegalStateException("a lost lease is valid: " + hold);
        } catch (LeaseLostException e) {
            return e;
        }
    }
}
