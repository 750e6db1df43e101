package io.holdfast.internal;

/** What one client keeps per lock name: its gate, and the thread that owns the lock re-entrantly. */
final class LockSite {

    final Gate<Holding> gate = new Gate<>();
    final ReentrantOwner reentrantOwner = new ReentrantOwner();
}
