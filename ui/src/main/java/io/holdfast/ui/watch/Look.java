package io.holdfast.ui.watch;

import io.holdfast.Holdfast;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Something at a store that is looked at again and again while somebody wants to see it. Its fields are guarded by {@link StoreWatch}. */
abstract sealed class Look permits ListingLook, LockLook {

    private final Duration interval;
    private final List<Runnable> listeners = new ArrayList<>();
    private long dueNanos;
    private long begunNanos;
    private long idleSinceNanos;
    private boolean stale;

    Look(Duration interval, long nowNanos) {
        this.interval = interval;
        this.dueNanos = nowNanos;
        this.begunNanos = nowNanos;
        this.idleSinceNanos = nowNanos;
    }

    /** Sends one request; called by one thread, outside of any lock. Returns how many locks it asked for. */
    abstract int step(Holdfast holdfast);

    /** Whether the last step was the last of a look. */
    abstract boolean isAtItsEnd();

    /** The store failed: what was seen half is dropped. */
    abstract void startAgain();

    /** Called by the thread that steps, before it does: what was seen half before a time without listeners is too old. */
    final void prepare() {
        if (stale) {
            stale = false;
            startAgain();
        }
    }

    final void stepped(long sentNanos, long nowNanos) {
        if (isAtItsEnd()) {
            dueNanos = Math.max(begunNanos + interval.toNanos(), nowNanos);
            begunNanos = dueNanos;
        } else {
            dueNanos = sentNanos;
        }
    }

    final void failed(long retryNanos) {
        startAgain();
        dueNanos = retryNanos;
        begunNanos = retryNanos;
    }

    final long dueNanos() {
        return dueNanos;
    }

    final void add(Runnable listener, long nowNanos) {
        if (listeners.isEmpty()) {
            dueNanos = nowNanos;
            begunNanos = nowNanos;
            stale = true;
        }
        listeners.add(listener);
    }

    final void remove(Runnable listener, long nowNanos) {
        listeners.remove(listener);
        idleSinceNanos = nowNanos;
    }

    final boolean isWanted() {
        return !listeners.isEmpty();
    }

    final boolean isIdleFor(Duration time, long nowNanos) {
        return !isWanted() && nowNanos - idleSinceNanos > time.toNanos();
    }

    final List<Runnable> listeners() {
        return List.copyOf(listeners);
    }
}
