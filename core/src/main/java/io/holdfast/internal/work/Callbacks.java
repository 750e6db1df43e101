package io.holdfast.internal.work;

import io.holdfast.Loss;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs users' code: continuations of futures, listeners, callbacks of losses. Thread-safe.
 *
 * <p>Nothing of the engine waits for users' code, nor for a user's executor, which may block when something is handed to it:
 * that is done by a thread of the client's own, which may block. What the executor refuses runs on that thread. Futures
 * complete on the client's own threads, since threads of the user's executor may wait for them.
 */
public final class Callbacks {

    /*
     * A pool that is shut down at the very moment something is handed to it may neither run nor refuse it, as ForkJoinPool does.
     * So close() shuts the pools down only when all that called Lifecycle.begin before the client was closed have called finish;
     * and what begins later sees that it is closed, and runs the callback on its own thread.
     */

    private static final Logger LOG = System.getLogger(Callbacks.class.getName());

    /** After so many callbacks in order, or so long, others get their turn, in case they share a thread. */
    private static final int MOST_AT_ONCE = 64;

    private static final long LONGEST_AT_ONCE_NANOS = Duration.ofMillis(5).toNanos();

    private final Optional<Executor> users;
    private final Executor own;
    private final Executor losses;
    private final Lifecycle lifecycle;

    /**
     * @param users where listeners and callbacks of losses run, if the user cares
     * @param own threads for continuations of futures and for listeners
     * @param losses threads apart, so that continuations that block do not keep the news of a loss waiting
     */
    public Callbacks(Optional<Executor> users, Executor own, Executor losses, Lifecycle lifecycle) {
        this.users = users;
        this.own = own;
        this.losses = losses;
        this.lifecycle = lifecycle;
    }

    /** Completes a future, and so runs what hangs on it. */
    public <T extends @Nullable Object> void complete(Consumer<T> completion, T argument) {
        handOver(own, call(completion, argument));
    }

    /** Calls a callback of onLost. */
    public void tellLoss(Consumer<Loss> listener, Loss loss) {
        handOver(losses, onUsersExecutor(call(listener, loss)));
    }

    /** The same for one that wants to hear it on an executor of its own, whatever the user's does; on that if it refuses. */
    public void tellLoss(Consumer<Loss> listener, Loss loss, Executor executor) {
        RunOnce call = new RunOnce(call(listener, loss));
        handOver(losses, on(executor, call, onUsersExecutor(call)));
    }

    /** For listeners. */
    public InOrder inOrder() {
        return new InOrder(own);
    }

    /** For callbacks of losses that must not run beside or before each other. */
    public InOrder lossesInOrder() {
        return new InOrder(losses);
    }

    /** Runs callbacks one after the other, in the order they were given. Thread-safe. */
    public final class InOrder {

        private final Executor way;
        private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();
        private final AtomicInteger pending = new AtomicInteger();

        private InOrder(Executor way) {
            this.way = way;
        }

        /** How many have not been run. */
        public int pending() {
            return pending.get();
        }

        public void tell(Runnable callback) {
            queue.add(callback);
            if (pending.getAndIncrement() == 0) {
                handOver(way, onUsersExecutor(this::drain));
            }
        }

        /** Runs on one thread at a time: started by the one that raises {@code pending} from 0, it ends when that is 0 again. */
        private void drain() {
            long begunNanos = System.nanoTime();
            int told = 0;
            do {
                call(Runnable::run, queue.remove()).run();
                if (pending.decrementAndGet() == 0) {
                    return;
                }
            } while (++told < MOST_AT_ONCE && System.nanoTime() - begunNanos < LONGEST_AT_ONCE_NANOS);
            handOver(way, onUsersExecutor(this::drain));
        }
    }

    private void handOver(Executor way, Runnable call) {
        if (lifecycle.isClosed()) {
            call.run();
            return;
        }
        try {
            way.execute(call);
        } catch (RejectedExecutionException closed) {
            call.run();
        }
    }

    private Runnable onUsersExecutor(Runnable call) {
        if (users.isEmpty()) {
            return call;
        }
        RunOnce once = new RunOnce(call);
        return on(users.get(), once, once);
    }

    private static Runnable on(Executor executor, RunOnce call, Runnable ifRefused) {
        return () -> {
            try {
                executor.execute(call);
            } catch (Throwable e) {
                LOG.log(Level.DEBUG, "The executor took no task", e);
                ifRefused.run();
            }
        };
    }

    private static <T extends @Nullable Object> Runnable call(Consumer<T> callback, T argument) {
        return () -> {
            try {
                callback.accept(argument);
            } catch (Throwable e) { // also a checked one: Kotlin and Lombok throw them undeclared
                LOG.log(Level.ERROR, "A callback failed on " + argument, e);
            }
        };
    }
}
