package io.holdfast.internal.ticket;

import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.internal.work.ServerThreads;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext.Timer;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Withdrawal;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Cleans up at the store in the background: leaves queues, gives back grants that are not wanted any more, and undoes requests
 * whose outcome is unknown. Each task is repeated until the store has settled it or the ttl has made it moot. Thread-safe.
 */
public final class Cleanup {

    private static final Logger LOG = System.getLogger(Cleanup.class.getName());

    private static final long FIRST_RETRY_NANOS = Duration.ofMillis(50).toNanos();

    /**
     * What became moot while it waited behind requests that hang keeps others waiting no longer than this. It is asked all the same:
     * else the store would not forget the ticket, nor find a request that arrived at the last moment.
     */
    private static final Duration MOOT_LIMIT = Duration.ofMillis(250);

    /** A request that was not found so often, with a pause between, is not waited for by a client that closes. */
    private static final int LOOKS_BEFORE_CLOSING = 2;

    /** What is known of a ticket that is to be removed. */
    public enum Certainty {
        /** The store has confirmed it: once it is not found it is gone. */
        CONFIRMED,
        /** Its request may not have arrived, and may arrive yet: not finding it proves nothing. */
        MAYBE_UNDER_WAY
    }

    private final StoreRequests requests;
    private final TimeSource time;
    private final Timer timer;
    private final ServerThreads threads;
    private final Set<Task> open = ConcurrentHashMap.newKeySet();

    public Cleanup(StoreRequests requests, TimeSource time, Timer timer, ServerThreads threads) {
        this.requests = requests;
        this.time = time;
        this.timer = timer;
        this.threads = threads;
    }

    /** Removes what an ended ticket may have at the store. Completes once that was tried. */
    public CompletableFuture<Void> withdraw(Ticket ticket, Certainty certainty) {
        return start(ticket, ticket.ttl(), limit -> {
            Withdrawal answer = requests.withdraw(ticket, limit);
            return answer == Withdrawal.REMOVED || certainty == Certainty.CONFIRMED;
        });
    }

    /**
     * Gives back the grant of an ended ticket. Completes once that was tried.
     *
     * @param longestTtl that the store may have given it, or may yet
     */
    public CompletableFuture<Void> release(Ticket ticket, Duration linger, Duration longestTtl) {
        long left = Math.max(0, ticket.endNanos() - time.nanoTime());
        return start(ticket, longestTtl.plusNanos(left), limit -> {
            requests.release(ticket, linger, time.nanoTime(), limit);
            return true;
        });
    }

    /** Looks a lock up, and others if need be, for a message to people; never repeated. */
    public void lookUp(String lockName, Consumer<Function<String, LockView>> use) {
        try {
            threads.cleanup(requests.server(lockName)).execute(() -> {
                try {
                    use.accept(requests::view);
                } catch (LockException e) {
                    LOG.log(Level.DEBUG, "Could not look up lock '" + lockName + "'", e);
                }
            });
        } catch (RuntimeException | Error e) {
            LOG.log(Level.DEBUG, "Could not start to look up lock '" + lockName + "'", e);
        }
    }

    /** Whether everything is settled, but for requests that were looked for, waited for, and not found again. */
    public boolean isIdle() {
        return open.stream().allMatch(task -> task.looks >= LOOKS_BEFORE_CLOSING);
    }

    int size() {
        return open.size();
    }

    private CompletableFuture<Void> start(Ticket ticket, Duration mootAfter, Step step) {
        Task task = new Task(ticket, mootAfter, step);
        open.add(task);
        task.submit();
        return task.tried;
    }

    /** One try. Whether it is settled. */
    private interface Step {
        boolean run(Deadline limit);
    }

    private final class Task implements Runnable {

        private final Ticket ticket;
        private final Step step;
        private final long mootNanos;
        private final CompletableFuture<Void> tried = new CompletableFuture<>();
        private long retryNanos = FIRST_RETRY_NANOS;
        /** Written by one run at a time. */
        private volatile int looks;

        Task(Ticket ticket, Duration mootAfter, Step step) {
            this.ticket = ticket;
            this.step = step;
            // Counted from now, not from the send: a request still under way is granted for a ttl from its arrival.
            this.mootNanos = time.nanoTime() + Deadline.nanosOf(mootAfter);
        }

        /** Never throws: the caller is in the midst of ending a lease or an acquisition. */
        void submit() {
            try {
                threads.cleanup(requests.server(ticket.name())).execute(this);
            } catch (RuntimeException | Error e) {
                tryAgainAfter(e);
            }
        }

        @Override
        public void run() {
            try {
                if (step.run(limit())) {
                    open.remove(this);
                } else {
                    looks++;
                    tryAgainIn(looks < LOOKS_BEFORE_CLOSING ? Math.min(thirdOfTtl(), FIRST_RETRY_NANOS) : thirdOfTtl());
                }
            } catch (RuntimeException | Error e) {
                tryAgainAfter(e);
            } finally {
                tried.complete(null);
            }
        }

        private void tryAgainAfter(Throwable failure) {
            LOG.log(Level.DEBUG, () -> "Cleaning up lock '" + ticket.name() + "' failed, trying again: " + failure);
            long pause = Math.min(thirdOfTtl(), retryNanos);
            retryNanos = Math.min(2 * retryNanos, thirdOfTtl());
            tryAgainIn(pause);
        }

        private void tryAgainIn(long nanos) {
            if (isMoot()) {
                open.remove(this);
            } else {
                timer.at(time.nanoTime() + nanos, this::submit);
            }
        }

        private Deadline limit() {
            return isMoot() ? requests.deadline().within(MOOT_LIMIT) : requests.deadline();
        }

        private boolean isMoot() {
            return mootNanos - time.nanoTime() <= 0;
        }

        private long thirdOfTtl() {
            return ticket.ttl().toNanos() / 3;
        }
    }
}
