package io.holdfast;

/**
 * Hears what happens to the locks of one client. Called one event at a time, in order, on a thread of its own: a slow
 * listener delays no lock.
 */
@FunctionalInterface
public interface LockListener {

    void on(LockEvent event);
}
