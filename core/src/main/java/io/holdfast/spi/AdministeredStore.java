package io.holdfast.spi;

import java.time.Duration;

/** A store in which an administrator can free locks of others and clear away what unused ones left. */
public interface AdministeredStore extends LockStore {

    /** Takes the lock from all its holders, tells them if it can, and lets the next in. Returns how many lost it. */
    int forceRelease(String name, Deadline deadline);

    /** Removes fencing counters unused for {@code idleFor}. Returns how many. */
    int prune(Duration idleFor, Deadline deadline);
}
