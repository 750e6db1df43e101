package io.holdfast.internal.telemetry;

import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import io.holdfast.internal.work.Callbacks;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Passes events to the listeners, one at a time and in order, off the threads they happen on. Thread-safe. */
final class Events {

    private static final Logger LOG = System.getLogger(Events.class.getName());

    /** Beyond this a listener has lost touch, and keeping its events would only use up the memory. */
    private static final int MOST_PENDING = 100_000;

    /** After so many events, or so long, other callbacks get their turn, in case they share a thread. */
    private static final int MOST_AT_ONCE = 64;

    private static final long LONGEST_AT_ONCE_NANOS = Duration.ofMillis(5).toNanos();

    private final List<LockListener> listeners;
    private final Callbacks callbacks;
    private final ConcurrentLinkedQueue<Supplier<@Nullable LockEvent>> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger pending = new AtomicInteger();
    private volatile boolean overflowSaid;

    Events(List<LockListener> listeners, Callbacks callbacks) {
        this.listeners = listeners;
        this.callbacks = callbacks;
    }

    boolean areHeard() {
        return !listeners.isEmpty();
    }

    /**
     * Costs next to nothing without listeners: the event is not even made.
     *
     * @param event made when it is delivered, by one at a time and in order; null if there is nothing to be told by then
     */
    void publish(Supplier<@Nullable LockEvent> event) {
        if (listeners.isEmpty()) {
            return;
        }
        if (pending.get() >= MOST_PENDING) {
            if (!overflowSaid) {
                overflowSaid = true;
                LOG.log(Level.WARNING, "A listener is too slow: some events are not delivered");
            }
            return;
        }
        queue.add(event);
        if (pending.getAndIncrement() == 0) {
            callbacks.tell(Events::drain, this);
        }
    }

    /** Runs on one thread at a time: started by the one that raises {@code pending} from 0, it ends when that is 0 again. */
    private void drain() {
        long begunNanos = System.nanoTime();
        int told = 0;
        do {
            tell(queue.remove().get());
            if (pending.decrementAndGet() == 0) {
                return;
            }
        } while (++told < MOST_AT_ONCE && System.nanoTime() - begunNanos < LONGEST_AT_ONCE_NANOS);
        callbacks.tell(Events::drain, this);
    }

    private void tell(@Nullable LockEvent event) {
        if (event == null) {
            return;
        }
        for (LockListener listener : listeners) {
            try {
                listener.on(event);
            } catch (RuntimeException | Error e) {
                // Whatever it is, the next event must still be delivered.
                LOG.log(Level.ERROR, "A listener failed on " + event, e);
            }
        }
    }
}
