package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.client.WatchHub;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.session.TicketKey;
import io.holdfast.spi.Deadline;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What a client sees of a queue it waits in. Its methods are called under the queue's monitor, but for what the watch tells. */
abstract class QueueWatch implements WatchHub.Watcher {

    private static final Logger LOG = System.getLogger(QueueWatch.class.getName());

    private static final long PAUSE_NANOS = Duration.ofMillis(100).toNanos();
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    final LockWaiters queue;

    private WatchHub.@Nullable Watch watch;
    private long asked; // the number of the last question
    private boolean asking;

    QueueWatch(LockWaiters queue) {
        this.queue = queue;
    }

    abstract void open();

    /** Returns what is to be told. */
    abstract List<Runnable> joined(TicketKey key);

    /** A ticket does not wait any more. */
    void left() {}

    /** The queue as of the last event; empty if it is not known. */
    Optional<QueueView> view() {
        return Optional.empty();
    }

    abstract Optional<KeyValue> reliesOn();

    /** Whether a ticket's turn will be noticed, if what is relied on is still there. */
    abstract boolean covers(TicketKey waiter);

    abstract void askAgain();

    final boolean isAsking() {
        return asking;
    }

    final boolean isCurrent() {
        return queue.isSeenBy(this);
    }

    final void watch(ByteString key, ByteString end) {
        close();
        watch = queue.client.watch(key, end, this);
    }

    final void close() {
        if (watch != null) {
            watch.close();
        }
    }

    /**
     * Asks etcd in the background, again after a pause if that fails. Only the last question's answer counts.
     *
     * @param answer returns what is to be told
     */
    final <T> void ask(Function<Deadline, T> question, Function<T, List<Runnable>> answer) {
        long number = ++asked;
        asking = true;
        queue.background.execute(() -> ask(question, answer, number));
    }

    private <T> void ask(Function<Deadline, T> question, Function<T, List<Runnable>> answer, long number) {
        List<Runnable> news = List.of();
        try {
            T reply = question.apply(queue.client.deadlineIn(PATIENCE));
            synchronized (queue) {
                if (isCurrent() && number == asked) {
                    asking = false;
                    news = answer.apply(reply);
                }
            }
        } catch (RpcFailure failure) {
            LOG.log(Level.DEBUG, () -> "Cannot read " + queue + ": " + failure.getMessage());
            again(() -> ask(question, answer, number), number);
        }
        news.forEach(Runnable::run);
    }

    private void again(Runnable question, long number) {
        queue.client.later(PAUSE_NANOS, () -> {
            synchronized (queue) {
                if (isCurrent() && number == asked) {
                    queue.background.execute(question);
                }
            }
        });
    }
}
