package io.holdfast.internal.telemetry;

import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import io.holdfast.internal.work.Callbacks;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Passes events to the listeners, one at a time and in order, off the threads they happen on. Thread-safe. */
final class Events {

    private static final Logger LOG = System.getLogger(Events.class.getName());

    /** Beyond this a listener has lost touch, and keeping its events would only use up the memory. */
    private static final int MOST_PENDING = 100_000;

    private final List<LockListener> listeners;
    private final Callbacks.InOrder callbacks;
    private volatile boolean overflowSaid;

    Events(List<LockListener> listeners, Callbacks callbacks) {
        this.listeners = listeners;
        this.callbacks = callbacks.inOrder();
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
        if (callbacks.pending() >= MOST_PENDING) {
            if (!overflowSaid) {
                overflowSaid = true;
                LOG.log(Level.WARNING, "A listener is too slow: some events are not delivered");
            }
            return;
        }
        callbacks.tell(() -> tell(event.get()));
    }

    private void tell(@Nullable LockEvent event) {
        if (event == null) {
            return;
        }
        for (LockListener listener : listeners) {
            try {
                listener.on(event);
            } catch (Throwable e) {
                // Whatever it is, checked ones thrown undeclared included, the next event must still be delivered.
                LOG.log(Level.ERROR, "A listener failed on " + event, e);
            }
        }
    }
}
