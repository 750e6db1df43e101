package io.holdfast;

import java.time.Duration;

/** What an administrator may do to locks of others. Thread-safe. */
public interface LockAdministration {

    /**
     * Takes the lock away from whoever holds it; waiters stay in line. The one exception to exclusion: the holder is
     * notified, but may still be at work. The next grant has a larger token.
     *
     * @return how many holders lost it
     * @throws UnsupportedLockException if the store has no such operation
     */
    int forceRelease(String name);

    /**
     * Removes what unused locks left in the store: fencing counters idle for at least {@code idleFor}.
     *
     * @return how many were removed
     * @throws UnsupportedLockException if the store has nothing to prune
     */
    int prune(Duration idleFor);
}
