package io.holdfast.internal;

import io.holdfast.LockException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext.Timer;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Withdrawal;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Cleans up at the store in the background: leaves lines, releases grants nobody waits for any more, and undoes requests
 * whose outcome is unknown. Each errand is repeated until the store has settled it or the ttl has made it moot.
 * Thread-safe.
 */
final class Errands {

    private static final Logger LOG = System.getLogger(Errands.class.getName());

    private static final long FIRST_RETRY_NANOS = Duration.ofMillis(50).toNanos();

    private final LockStore store;
    private final TimeSource time;
    private final Timer timer;
    private final Lanes lanes;
    private final Duration requestTimeout;
    private final Set<Errand> open = ConcurrentHashMap.newKeySet();

    Errands(LockStore store, TimeSource time, Timer timer, Lanes lanes, Duration requestTimeout) {
        this.store = store;
        this.time = time;
        this.timer = timer;
        this.lanes = lanes;
        this.requestTimeout = requestTimeout;
    }

    /** Gives up a place in line the store has confirmed. */
    void leaveLine(Request request) {
        start(request, request.ttl(), deadline -> {
            store.withdraw(request, deadline);
            return Outcome.SETTLED;
        });
    }

    /** Undoes a request that may or may not have arrived, or may arrive yet: not finding it proves nothing. */
    void undo(Request request) {
        start(
                request,
                request.ttl(),
                deadline ->
                        store.withdraw(request, deadline) == Withdrawal.REMOVED ? Outcome.SETTLED : Outcome.LOOK_AGAIN);
    }

    /** Gives back a grant that was not used. */
    void release(Grant grant) {
        release(grant, Duration.ZERO, time.nanoTime());
    }

    /** @param endNanos when the grant ends by itself, as far as we know */
    void release(Grant grant, Duration linger, long endNanos) {
        long longest = Math.max(0, endNanos - time.nanoTime());
        start(grant.request(), grant.ttl().plusNanos(longest), deadline -> {
            store.release(grant, linger, deadline);
            return Outcome.SETTLED;
        });
    }

    /** Looks something up for a message to people; never repeated. */
    void lookUp(String lockName, Consumer<Deadline> task) {
        try {
            lanes.errands(store.lane(lockName)).execute(() -> {
                try {
                    task.accept(Deadline.after(time, requestTimeout));
                } catch (LockException e) {
                    LOG.log(Level.DEBUG, "Could not look up lock '" + lockName + "'", e);
                }
            });
        } catch (RuntimeException | Error e) {
            LOG.log(Level.DEBUG, "Could not start to look up lock '" + lockName + "'", e);
        }
    }

    /** Whether everything is settled, but for requests that were looked for once and not found. */
    boolean isIdle() {
        return open.stream().allMatch(errand -> errand.lookedOnce);
    }

    int size() {
        return open.size();
    }

    private void start(Request request, Duration mootAfter, Task task) {
        Errand errand = new Errand(request, mootAfter, task);
        open.add(errand);
        errand.submit();
    }

    private enum Outcome {
        SETTLED,
        LOOK_AGAIN
    }

    private interface Task {
        Outcome run(Deadline deadline);
    }

    private final class Errand implements Runnable {

        private final Request request;
        private final Task task;
        private final long mootNanos;
        private long retryNanos = FIRST_RETRY_NANOS;
        private volatile boolean lookedOnce;

        Errand(Request request, Duration mootAfter, Task task) {
            this.request = request;
            this.task = task;
            // Counted from now, not from the send: a request still under way is granted for a ttl from its arrival.
            this.mootNanos = time.nanoTime() + Deadline.nanosOf(mootAfter);
        }

        /** Never throws: who has an errand has other things to see to. */
        void submit() {
            try {
                lanes.errands(store.lane(request.name())).execute(this);
            } catch (RuntimeException | Error e) {
                goAgainAfter(e);
            }
        }

        @Override
        public void run() {
            try {
                if (task.run(Deadline.after(time, requestTimeout)) == Outcome.SETTLED) {
                    open.remove(this);
                    return;
                }
            } catch (RuntimeException | Error e) {
                goAgainAfter(e);
                return;
            }
            lookedOnce = true;
            goAgainIn(thirdOfTtl());
        }

        private void goAgainAfter(Throwable failure) {
            LOG.log(Level.DEBUG, () -> "Cleaning up lock '" + request.name() + "' failed, trying again: " + failure);
            long pause = Math.min(thirdOfTtl(), retryNanos);
            retryNanos *= 2;
            goAgainIn(pause);
        }

        private void goAgainIn(long nanos) {
            if (mootNanos - time.nanoTime() <= 0) {
                open.remove(this);
            } else {
                timer.at(time.nanoTime() + nanos, this::submit);
            }
        }

        private long thirdOfTtl() {
            return request.ttl().toNanos() / 3;
        }
    }
}
