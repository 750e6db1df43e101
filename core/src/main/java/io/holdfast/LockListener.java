package io.holdfast;

/**
 * Hears what happens to the locks of one client. Called one event at a time, in order, off the threads that lock: a slow
 * listener delays no lock, but one that falls 100,000 events behind misses some.
 */
@FunctionalInterface
public interface LockListener {

    void on(LockEvent event);
}
